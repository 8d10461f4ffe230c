# Figures are those of the cost model, which other tests are about.
nestc compare plans.nest | awk '/^  [a-z]/ { print $1, $2 == "-" ? "has none" : "has a plan" } /^[a-z]/ { print $1, $2 }'
nestc compare plans.nest --solver=alpa --solver=nest | awk '/^  [a-z]/ { print $1 } /^Proof/ { print $1 }'
nestc compare plans.nest --json --solver=manual | sed 's/: [0-9.e+]*[0-9]/: N/g; s/"about": "[^"]*"/"about": WORDS/'
# No plan is below the bound, whoever found it.
nestc compare plans.nest --json | awk '/"lower_bound"/ { sub(/.*"lower_bound": /, ""); low = $0 + 0 } /"time"/ { time[n++] = $2 + 0 } END { for (i = 0; i < n; i++) wrong += time[i] < low; print (n == 7 && low > 0), wrong + 0 }'
nestc compile plans.nest --solver=manual | awk '/^Proof/ { print $1, $2, $4 }'
nestc compile plans.nest --solver=manual --solver=alpa
nestc compile plans.nest --solver=manuel
nestc compare ../cli/infeasible_memory.nest 2>&1 | sed -n 's/: error/: error/p'
nestc compare plans.nest -o plan.txt --plan=ours
