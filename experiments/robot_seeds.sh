#!/usr/bin/env bash
# CGPO with nothing but defaults on the robots: several seeds each, judged on fresh episodes. Prints a Markdown table.
#   [FIRST=0] experiments/robot_seeds.sh [PROGRAM] [FOLDER] [SEEDS] [TASK …]
set -euo pipefail
program=${1:-build/bin/cgpo}
folder=${2:-runs/robot-seeds}
seeds=${3:-10}
first=${FIRST:-0}
shift $(($# < 3 ? $# : 3))
tasks=("$@")
[ ${#tasks[@]} -gt 0 ] || tasks=(cartpole reacher halfcheetah ant)
echo "| task | seed | return | cost | limit | episode length | updates over the limit | of those near it | steps until strictly converged | seconds |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
for task in "${tasks[@]}"; do
  for ((seed = first; seed < first + seeds; ++seed)); do
    run=$folder/$task-$seed
    begin=$(date +%s.%N)
    "$program" train "$task" --seed "$seed" --out "$run" --force > /dev/null 2>&1
    end=$(date +%s.%N)
    "$program" eval "$run" --episodes 8192 --json > "$run/eval.json"
    python3 "$(dirname "$0")/robot_seeds_row.py" "$task" "$seed" "$run" "$(echo "$end - $begin" | bc)"
  done
done
