nestc compile tflops.nest --emit=manifest -o plan.json
