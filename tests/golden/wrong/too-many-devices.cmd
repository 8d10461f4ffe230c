nestc compile too-many-devices.nest --emit=manifest -o plan.json
