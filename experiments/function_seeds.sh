#!/usr/bin/env bash
# The Function task on ten seeds with nothing but defaults: trains, evaluates the last policy on 8192 fresh episodes, and
# prints the table of docs/tasks/function.md. usage: experiments/function_seeds.sh [PROGRAM] [FOLDER]
set -euo pipefail
cgpo=${1:-build/bin/cgpo}
out=${2:-runs/function-seeds}
field() { sed -E "s/.*\"$1\":([^,}]*).*/\1/" <<< "$2"; }
echo "| seed | J_R | J_C | standard error | off the optimum | violations, last half | seconds |"
echo "| --- | --- | --- | --- | --- | --- | --- |"
for seed in 0 1 2 3 4 5 6 7 8 9; do
  [ -f "$out/s$seed/checkpoint.safetensors" ] || "$cgpo" train function --seed "$seed" --out "$out/s$seed" > /dev/null
  result=$("$cgpo" eval "$out/s$seed" --episodes 8192 --json)
  return=${result#*\"return\":}
  cost=${result#*\"costs\":}
  violations=$(awk -F'"costs":\\[' 'NR > 50 { split($2, part, "]"); if (part[1] > 8.08) ++count } END { print count / 50 }' "$out/s$seed/log.jsonl")
  seconds=$(field seconds "$(tail -n 1 "$out/s$seed/log.jsonl")")
  awk -v seed="$seed" -v r="$(field mean "${return%%\}*}")" -v c="$(field mean "${cost%%\}*}")" -v se="$(field se "${cost%%\}*}")" \
      -v violations="$violations" -v seconds="$seconds" \
      'BEGIN { printf "| %d | %.4f | %.4f | %.4f | %+.2f %% | %.0f %% | %.1f |\n", seed, r, c, se, 100 * (c / 8 - 1), 100 * violations, seconds }'
done
