nestc test shared.nest
nestc compile shared.nest --emit=megatron | grep -e --moe-shared -e --num-experts -e --add-qkv-bias
