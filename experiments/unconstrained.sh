#!/usr/bin/env bash
# What PPO without limits does to the speed of each robot whose limit the paper set to half of that. Writes
# src/tasks/unconstrained.csv, from which `cgpo tasks` knows it.
#   experiments/unconstrained.sh [PROGRAM] [FOLDER] [SEEDS] [ITERATIONS]
set -euo pipefail
program=${1:-build/bin/cgpo}
folder=${2:-runs/unconstrained}
seeds=${3:-3}
iterations=${4:-150}
here=$(dirname "$0")
for task in halfcheetah ant swimmer; do
  "$program" compare "$task" --algos ppo --seeds "$seeds" --jobs 2 --set limits=[inf] --set "iterations=$iterations" --out "$folder/$task" > /dev/null
done
python3 "$here/unconstrained_rows.py" "$folder" halfcheetah ant swimmer > "$here/../src/tasks/unconstrained.csv"
cat "$here/../src/tasks/unconstrained.csv"
