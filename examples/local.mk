# SPDX-License-Identifier: MIT

EXTRA_DIST += \
	%D%/README.md \
	%D%/gpt3-175b-1024h100/README.md \
	%D%/gpt3-175b-1024h100/expected.summary \
	%D%/gpt3-175b-1024h100/gpt3.nest \
	%D%/llama2-70b-tpu-v4/README.md \
	%D%/llama2-70b-tpu-v4/expected.summary \
	%D%/llama2-70b-tpu-v4/llama2.nest \
	%D%/llama2-7b-64h100/README.md \
	%D%/llama2-7b-64h100/expected.summary \
	%D%/llama2-7b-64h100/llama2.nest \
	%D%/llama3-70b-1024h100/README.md \
	%D%/llama3-70b-1024h100/expected.summary \
	%D%/llama3-70b-1024h100/llama3.nest \
	%D%/paper-figure5/README.md \
	%D%/paper-figure5/chart.awk \
	%D%/paper-figure5/figure.sh \
	%D%/paper-figure5/figure5.nest \
	%D%/paper-figure5/h100.svg \
	%D%/paper-figure5/published.svg \
	%D%/paper-figure5/published.tsv \
	%D%/paper-figure5/results.sh \
	%D%/paper-figure5/results.tsv \
	%D%/paper-figure5/tables.awk \
	%D%/paper-figure5/tables.md \
	%D%/paper-figure5/tpuv4.svg
