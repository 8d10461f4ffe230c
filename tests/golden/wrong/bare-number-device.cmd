nestc compile bare-number-device.nest --emit=manifest -o plan.json
