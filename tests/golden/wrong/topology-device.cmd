nestc compile topology-device.nest --emit=manifest -o plan.json
