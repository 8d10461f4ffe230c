nestc eval -e '1GiB / 400Gb/s + 3us' -e '{ 1, 2, 4 }' -e '1 .. 8' -e '[true, bf16, "a"]'
nestc eval -e llama2_7b -e llama_block
nestc eval tests.nest -e 'transfer(50GB)' -e small.parameters -e train.pipeline
nestc eval tests.nest -e 'single_node(device = h100_sxm).node' --json
nestc eval -e '400Gb/s' -e '[1, 2.5, true, bf16]' -e '2 .. 9' --json
nestc eval tests.nest -e 'transfr(3GB)'
nestc eval tests.nest -e '1GiB + 3us' -e '1 +'
nestc eval tests.nest
nestc eval missing.nest -e 1
