nestc compile place.nest --job=out | grep -E '^Plan|^  (stage [0-9]|idle)|avoided|^Proof'
nestc compile place.nest --job=rack | grep -E '^Plan|^  (stage [0-9]|idle)|avoided|^Proof'
nestc compile place.nest --job=on | grep -E '^Plan|^  (stage [0-9]|idle)|avoided|^Proof'
nestc compile place.nest --job=none
