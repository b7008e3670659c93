#!/usr/bin/env bash
# foreign_robots.sh FOLDER: fetches robots that are not ours, the MJCF files of two Python packages, into FOLDER. Needs
# python3 with pip and its package index. Only the files are wanted: nothing that the packages depend on is installed.
set -euo pipefail
folder=${1:?usage: scripts/foreign_robots.sh FOLDER}
packages=(gymnasium==1.4.0 dm_control==1.0.50)
command -v python3 > /dev/null || { echo "foreign_robots: python3 is missing" >&2; exit 2; }
python3 -m pip --version > /dev/null 2>&1 || { echo "foreign_robots: python3 has no pip" >&2; exit 2; }
mkdir -p "$folder"
fetched=$(mktemp -d "$folder/fetch-XXXXXX")
trap 'rm -rf "$fetched"' EXIT
python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-compile --no-deps \
  --target "$fetched" "${packages[@]}" ||
  { echo "foreign_robots: pip could not fetch ${packages[*]}" >&2; exit 2; }
rm -rf "$folder/gymnasium" "$folder/dm_control"
cp -r "$fetched/gymnasium/envs/mujoco/assets" "$folder/gymnasium"
mkdir "$folder/dm_control"
cp -r "$fetched"/dm_control/suite/*.xml "$fetched"/dm_control/suite/*_assets "$fetched/dm_control/suite/common" \
  "$folder/dm_control"
rm -f "$folder"/dm_control/common/*.py
printf '%s\n' "${packages[@]}" > "$folder/packages.txt"
