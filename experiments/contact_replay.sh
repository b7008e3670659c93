#!/usr/bin/env bash
# Policies trained on our engine, replayed on MuJoCo at several time steps; prints the table of docs/physics/contact.md.
# Two robots, each with the chosen contact and with the first guess; a quarter of an hour on one core.
# usage: experiments/contact_replay.sh [PROGRAM] [FOLDER]
set -euo pipefail
cgpo=${1:-build/bin/cgpo}
out=${2:-runs/contact-replay}
guess_ant=(task.contact_stiffness=2000 task.contact_damping=50 task.slip_speed=0.05 task.slip_lift=0)
guess_halfcheetah=(task.slip_speed=0.1 task.slip_lift=0)
chosen_ant=(environments=128 iterations=40)
chosen_halfcheetah=(iterations=60)

# Σ speed / episode length of a run's last policy.
measure() {
  local result cost length
  result=$("$cgpo" eval "$1" --episodes 128 --json)
  cost=${result#*\"costs\":}
  cost=$(sed -E 's/^[^}]*"mean":([^,}]*).*/\1/' <<< "${cost%%\}*}")
  length=$(sed -E 's/.*"episode_length":([^,}]*).*/\1/' <<< "$result")
  printf '%.0f / %.0f' "$cost" "$length"
}

echo "| robot, contact | own engine | MuJoCo 10 ms | 5 ms | 2.5 ms | 1 ms |"
echo "| --- | --- | --- | --- | --- | --- |"
for robot in ant halfcheetah; do
  for contact in chosen guess; do
    run=$out/$robot-$contact
    settings="chosen_$robot[@]"
    keys=("${!settings}")
    settings="guess_$robot[@]"
    [ $contact = chosen ] || keys+=("${!settings}")
    [ -f "$run/checkpoint.safetensors" ] || "$cgpo" train $robot --seed 1 --out "$run" --set "${keys[@]}" > /dev/null
    row="| $robot, ${contact/guess/first guess} | $(measure "$run") |"
    for substeps in 5 10 20 50; do
      copy=$(mktemp -d)
      cp -r "$run/." "$copy"
      sed -i "s/^engine = \"own\"/engine = \"mujoco\"/; s/^source = \"shac\"/source = \"zobg\"/; s/^substeps = .*/substeps = $substeps.0/" "$copy/config.toml"
      row+=" $(measure "$copy") |"
      rm -rf "$copy"
    done
    echo "$row"
  done
done
