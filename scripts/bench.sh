#!/usr/bin/env bash
# Runs the benchmarks of a build folder and prints ratios: each number beside its peer, from the same run.
set -euo pipefail
build=$1
echo "== networks (Google Benchmark; GFLOP/s where a product is timed)"
"$build/bin/nn_bench" --benchmark_min_time=0.1 2> /dev/null
echo
echo "== interpreter beside the same random expression written by hand in C++ (1024 environments, float)"
echo "   one loop: all operations in one loop, values in registers; loop an operation: one loop over arrays for each"
"$build/bin/kernel_bench" --benchmark_filter='/1024$' --benchmark_format=csv --benchmark_min_time=0.3 2> /dev/null |
  awk -F, '/^"/ {
    gsub(/"/, "", $1); split($1, part, "/"); key = part[1] "," part[3]
    nanoseconds[key "," part[2]] = $4 / 1024
    if (!(key in seen)) { seen[key] = 1; order[++count] = key }
  }
  END {
    printf "%-16s %-9s %12s %22s %24s\n", "expression", "machine", "interpreter", "one loop (ratio)", "loop an operation (ratio)"
    for (i = 1; i <= count; ++i) {
      key = order[i]; split(key, part, ","); own = nanoseconds[key ",interpreter"]
      fused = nanoseconds[key ",one_loop"]; arrays = nanoseconds[key ",loop_an_operation"]
      printf "%-16s %-9s %9.1f ns %9.1f ns (%5.2f) %12.1f ns (%5.2f)\n", part[1], part[2], own, fused, own / fused, arrays, own / arrays
    }
  }'
echo
echo "== one physics substep on every backend (ns_per_lane: an environment), beside the core's multiply-add bound and MuJoCo"
"$build/bin/substep_bench" --benchmark_filter='/256|mujoco' --benchmark_min_time=0.1 2> /dev/null |
  sed -nE 's|^([a-z0-9/]+)/manual_time.* ns_per_lane=([0-9.k]+)( percent_of_bound=([0-9]+))?.*|\1 \2 \4|p' |
  awk '{ printf "%-36s %10s ns %s\n", $1, $2, $3 == "" ? "" : $3 " % of the bound" }'
