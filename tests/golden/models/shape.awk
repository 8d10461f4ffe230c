# The shape of a model out of its IR, by the names of the published config.json.
/^model/ { model = $2; layers = $4; sub(/layers=/, "", layers); tied = / tied/ ? " tied" : "" }
$1 == "facts" { rope = $2; epsilon = $4; sub(/.*=/, "", rope); sub(/.*=/, "", epsilon) }
$1 == "axis" { size[$2] = $4 }
/= attention / { window = " "; if (match($0, /window=[0-9]+/)) seen[substr($0, RSTART, RLENGTH)] }
/= router / { match($0, /top_k=[0-9]+/); top = substr($0, RSTART + 6, RLENGTH - 6) }
END {
	printf "%s: num_hidden_layers %s vocab_size %s", model, layers, size["vocab"]
	names = "hidden heads kv_heads head_dim ffn experts expert_ffn shared_ffn q_rank kv_rank nope_dim rope_dim value_dim"
	count = split(names, name)
	for (i = 1; i <= count; i++)
		if (name[i] in size)
			printf " %s %s", name[i], size[name[i]]
	if (top)
		printf " top_k %s", top
	for (w in seen)
		printf " %s", w
	printf " rope_theta %s eps %s%s\n", rope, epsilon, tied
}
