#!/usr/bin/env bash
# Gradients through a window of a differentiable simulation: Brax and MJX on the CPU, in turns with our own program.
# Needs python3 with venv and a package index; about 20 minutes on two busy cores, most of which JAX compiles.
set -euo pipefail
usage="usage: run.sh [--json] [--program FILE] [--venv FOLDER] [--repeats N] [TASK…]"
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
program=$root/build/bin/cgpo venv=$root/build/peers-venv repeats=3 json=() tasks=()
while (($#)); do
  case $1 in
    --json) json=(--json) ;;
    --program) program=${2:?$usage} && shift ;;
    --venv) venv=${2:?$usage} && shift ;;
    --repeats) repeats=${2:?$usage} && shift ;;
    -*) echo "$usage" >&2 && exit 2 ;;
    *) tasks+=("$1") ;;
  esac
  shift
done
((${#tasks[@]})) || tasks=(ant halfcheetah reacher cartpole)
[[ -x $program ]] || { echo "no program at $program: make build, or --program FILE" >&2 && exit 2; }

[[ -x $venv/bin/python ]] || python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
export JAX_PLATFORMS=cpu
results=$(mktemp)
log=$(mktemp)
trap 'rm -f "$results" "$log"' EXIT
measure() {  # SCRIPT TASK VARIANT
  echo "$(date +%T) $*" >&2
  timeout 600 "$venv/bin/python" "$here/$1" "$2" --variant "$3" --cgpo "$program" --repeats "$repeats" >> "$results" 2> "$log" ||
    { echo "failed: $*" >&2 && tail -3 "$log" >&2; }
}
for task in "${tasks[@]}"; do
  measure brax_peer.py "$task" generalized
  [[ $task == ant || $task == cartpole ]] && measure brax_peer.py "$task" spring
  measure mjx_peer.py "$task" ""
done
"$venv/bin/python" "$here/table.py" "${json[@]}" < "$results"
