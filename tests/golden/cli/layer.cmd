# Times are left out: they change with every calibration.
nestc explain megatron_experts.nest --layer moe_block | sed -e 's/ *[0-9.]* [mu]s//g' -e 's/exposed.*//'
nestc explain megatron_experts.nest --layer no_such_block
