nestc compile infeasible_memory.nest
nestc compile infeasible_conflict.nest -o plan.txt
