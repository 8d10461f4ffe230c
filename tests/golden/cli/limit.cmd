nestc compile tiny.nest --time-limit=1ns
nestc compile tiny.nest --time-limit=1ns --solver=mcmc
nestc compare tiny.nest --time-limit=1ns
nestc compare tiny.nest --time-limit=1ns --json --solver=alpa
nestc compile mixed.nest --job=both --time-limit=1ns
nestc compile tiny.nest --time-limit=1000 | grep -A1 Proof
nestc compile tiny.nest --gap=90% | grep -A1 Proof | sed 's/below .*/below .../'
