nestc compile no-job.nest --emit=manifest -o plan.json
