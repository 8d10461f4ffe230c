nestc compile unterminated-string.nest --emit=manifest -o plan.json
