#!/usr/bin/env bash
# What PPO without limits does to the speed of each robot whose limit the paper set to half of that: mean and standard error
# over the seeds, each one's last policy judged on fresh episodes. Writes src/tasks/unconstrained.csv, from which `cgpo tasks`
# knows it.
#   experiments/unconstrained.sh [PROGRAM] [FOLDER] [SEEDS] [ITERATIONS]
set -euo pipefail
program=${1:-build/bin/cgpo}
folder=${2:-runs/unconstrained}
seeds=${3:-3}
iterations=${4:-150}
file=$(dirname "$0")/../src/tasks/unconstrained.csv
row='
import json, statistics, sys
table = json.load(sys.stdin)
runs = table["algorithms"][0]["runs"]
ends = [run["evaluation"]["costs"][0]["mean"] for run in runs]
error = statistics.stdev(ends) / len(ends) ** 0.5
print(table["task"], table["costs"][0]["name"], "ppo", len(ends), runs[0]["steps"], f"{statistics.mean(ends):.1f}", f"{error:.1f}", sep=",")
'
rows="task,cost,algorithm,seeds,steps,mean,se"
for task in halfcheetah ant swimmer; do
  table=$("$program" compare "$task" --algos ppo --seeds "$seeds" --jobs 2 --evaluate 8192 --json --out "$folder/$task" \
    --set limits=[inf] "iterations=$iterations")
  rows+=$'\n'$(python3 -c "$row" <<< "$table")
done
echo "$rows" | tee "$file"
