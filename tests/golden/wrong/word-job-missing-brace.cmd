nestc compile word-job-missing-brace.nest --emit=manifest -o plan.json
