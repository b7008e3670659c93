#!/usr/bin/env bash
# Pictures of trained robots for the documents: a still of each, the learning curves of one, films of one, and how large
# the pages are.
#
#   experiments/pictures.sh PROGRAM [FOLDER]
#
# FOLDER (runs/pictures) holds a run named after each task; those that are missing are trained with the defaults.
set -euo pipefail
cgpo=$(realpath "${1:?usage: pictures.sh PROGRAM [FOLDER]}")
runs=${2:-runs/pictures}
pictures=$(dirname "$(realpath "$0")")/../docs/pictures
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
  { echo "pictures: Chromium takes the pictures and is not installed" >&2; exit 2; }

# task, seconds into the episode
stills=("cartpole 6" "reacher 0.5" "halfcheetah 4" "ant 3.2")
for entry in "${stills[@]}"; do
  read -r task seconds <<< "$entry"
  [[ -f $runs/$task/config.toml ]] || "$cgpo" train "$task" --out "$runs/$task"
  "$cgpo" replay "$runs/$task" --video "$pictures/$task.png" --show end --from "$seconds" --size 480x300
done
"$cgpo" replay "$runs/halfcheetah" --video "$pictures/run_halfcheetah.webp" --show end --from 2 --seconds 3 --size 720x300 --fps 16
"$cgpo" replay "$runs/halfcheetah" --video "$pictures/replay_halfcheetah.webp" --from 2 --seconds 1.8 --size 640x240 --fps 12

for task in hopper walker2d quadruped humanoid; do
  [[ -f $runs/$task/config.toml ]] || "$cgpo" train "$task" --out "$runs/$task"
  "$cgpo" replay "$runs/$task" --video "$pictures/$task.webp" --show end --from 2 --seconds 2.4 --size 320x280 --fps 12
done

# The part of a report that has the curves, as a picture.
page=$(mktemp -d)
trap 'rm -rf "$page"' EXIT
"$cgpo" report "$runs/halfcheetah" --episodes 0 --replays 0 --out "$page/report.html" > /dev/null
root=()
[[ $(id -u) -ne 0 ]] || root=(--no-sandbox)
"$chromium" --headless "${root[@]}" --hide-scrollbars --user-data-dir="$page/profile" --window-size=1100,674 \
  --virtual-time-budget=3000 --screenshot="$pictures/curves_halfcheetah.png" \
  "file://$page/report.html#only=curves&theme=light" 2> /dev/null

echo "| page | size |"
echo "| --- | --- |"
for task in function cartpole reacher halfcheetah ant; do
  [[ -f $runs/$task/config.toml ]] || "$cgpo" train "$task" --out "$runs/$task" > /dev/null
  size=$("$cgpo" report "$runs/$task" --episodes 256 --json 2> /dev/null | sed -E 's/.*"bytes":([0-9]+).*/\1/')
  awk -v task="$task" -v lines="$(wc -l < "$runs/$task/log.jsonl")" -v size="$size" \
    'BEGIN { printf "| report of %s, %d iterations | %.2f MB |\n", task, lines, size / 1e6 }'
done
