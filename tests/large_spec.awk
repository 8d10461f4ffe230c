# SPDX-License-Identifier: MIT
#
# awk -v lines=N -f large_spec.awk: a right spec of about N lines, of every
# kind of declaration but jobs and tests, laid out as `nestc fmt` would.

function put(text) {
	print text
	written++
}

BEGIN {
	put("nest 1")
	put("")
	put("import std.device.h100")
	put("import std.topology.spine_leaf")
	put("import std.model.llama")
	for (i = 1; written < lines; i++) {
		put("")
		put("## Value number " i ".")
		put("let value_" i " = " i " + 3 * (" (i > 1 ? "value_" (i - 1) : 1) " + 1) / 7")
		if (i % 10)
			continue
		put("")
		put("fn cost_" i "(m, n = " i ") = ceil(m / 128) * ceil(n / 128) * " i ".5us")
		put("")
		put("device card_" i " {")
		put("  memory           = " 80 + i % 7 "GiB")
		put("  memory_bandwidth = 3.35TB/s       # measured")
		put("  peak { bf16 = 989TFLOP/s }")
		put("  price = 2.5$/h")
		put("}")
		put("")
		put("topology cluster_" i "(nodes = " 1 + i % 8 ") {")
		put("  device = card_" i)
		put("  level node { fanout = 8      bandwidth = 450GB/s  latency = 1us }")
		put("  level rack { fanout = nodes  bandwidth = 50GB/s   latency = 5us }")
		put("}")
		put("")
		put("model model_" i "(seq = 2048) {")
		put("  let hidden = 512")
		put("  layers {")
		put("    embedding(vocab = 32_000, hidden)")
		put("    " 1 + i % 40 " * llama_block(hidden, heads = 8, kv_heads = 8, ffn = 1536)")
		put("    lm_head(vocab = 32_000, hidden)")
		put("  }")
		put("}")
	}
}
