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
    gsub(/"/, "", $1); split($1, part, "/"); time[part[1] "," part[3] "," part[2]] = $4 / 1024
    if (!((part[1] "," part[3]) in seen)) { seen[part[1] "," part[3]] = 1; order[++count] = part[1] "," part[3] }
  }
  END {
    printf "%-16s %-9s %12s %12s %18s %12s %12s\n", "expression", "machine", "interpreter", "one loop", "loop an operation", "ratio", "ratio"
    for (i = 1; i <= count; ++i) {
      key = order[i]; split(key, part, ",")
      printf "%-16s %-9s %9.1f ns %9.1f ns %15.1f ns %11.2fx %11.2fx\n", part[1], part[2], time[key ",interpreter"], time[key ",one_loop"], \
        time[key ",loop_an_operation"], time[key ",interpreter"] / time[key ",one_loop"], time[key ",interpreter"] / time[key ",loop_an_operation"]
    }
  }'
