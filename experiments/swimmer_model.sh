#!/usr/bin/env bash
# Why Swimmer's gradients are corrected: the one through the model alone beside the true one, over a training. On our own
# engine, which has the true one.
#   experiments/swimmer_model.sh [BUILD] [FOLDER] [SEED]
set -euo pipefail
build=${1:-build}
folder=${2:-runs/swimmer-model}
seed=${3:-1}
at=(5 10 20 40 60)
plain=(--seed "$seed" --set task.engine=own --set world.correction=false --set gradient.discount=1 --set radius.initial=1e-3)
mkdir -p "$folder"
"$build/bin/cgpo" train swimmer --algo cgpo "${plain[@]}" --set "iterations=${at[-1]}" --out "$folder/true" > "$folder/true.out"
runs=()
for iterations in "${at[@]}"; do
  run="$folder/model-$iterations"
  resume=()
  if [ ${#runs[@]} -gt 0 ]; then
    cp -r "${runs[-1]}" "$run"
    resume=(--resume)
  fi
  "$build/bin/cgpo" train swimmer --algo mb-cgpo "${plain[@]}" --set "iterations=$iterations" "${resume[@]}" --out "$run" > "$run.out"
  runs+=("$run")
done
"$build/experiments/model_gradient" "${runs[@]}"
echo
python3 - "$folder/true" "${runs[-1]}" "${at[@]}" <<'PY'
# Return and cost after so many iterations, with true gradients and with the model's.
import json, sys
logs = [[json.loads(line) for line in open(f"{run}/log.jsonl")] for run in sys.argv[1:3]]
print("| iterations | true gradients: return | cost | the model's: return | cost |\n| --- | --- | --- | --- | --- |")
for at in map(int, sys.argv[3:]):
    print(f"| {at} | " + " | ".join(f"{log[at - 1]['return']:.1f} | {log[at - 1]['costs'][0]:.0f}" for log in logs) + " |")
PY
