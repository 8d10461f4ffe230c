nestc compile slow.nest | grep -E '^Time|^Proof|^  stage +[0-9]'
