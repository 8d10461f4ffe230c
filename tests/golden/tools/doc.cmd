nestc doc gpt2_small
nestc doc std.model.gpt2
nestc doc tests.nest
nestc doc tests.nest transfer --json
nestc doc gpt2_smal
nestc doc nothing_of_the_kind
nestc doc tests.nest nothing
nestc doc gpt2_small gpt2_xl
nestc doc missing.nest
nestc list templates | grep gpt_block
nestc list devise
nestc list colour
