nestc compile slash-comment.nest --emit=manifest -o plan.json
