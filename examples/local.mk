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
	%D%/llama2-7b-slow-link/README.md \
	%D%/llama2-7b-slow-link/expected.summary \
	%D%/llama2-7b-slow-link/llama2.nest \
	%D%/llama3-70b-1024h100/README.md \
	%D%/llama3-70b-1024h100/expected.summary \
	%D%/llama3-70b-1024h100/llama3.nest \
	%D%/llama3-70b-fat-tree/README.md \
	%D%/llama3-70b-fat-tree/expected.summary \
	%D%/llama3-70b-fat-tree/llama3.nest \
	%D%/llama3-70b-h100-a100/README.md \
	%D%/llama3-70b-h100-a100/expected.summary \
	%D%/llama3-70b-h100-a100/llama3.nest \
	%D%/mixtral-8x7b-dragonfly/README.md \
	%D%/mixtral-8x7b-dragonfly/expected.summary \
	%D%/mixtral-8x7b-dragonfly/mixtral.nest \
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
