#!/usr/bin/env bash
# The sweep of contact parameters: CSV and pictures into docs/pictures/, tables into docs/physics/contact.md between their markers.
# usage: experiments/contact_sweep.sh [--quick] [PROGRAM]
# --quick (a minute) is for trying it: small samples, everything into a scratch folder, docs/ untouched.
set -euo pipefail
cd "$(dirname "$0")/.."
quick=()
docs=docs
if [ "${1:-}" = --quick ]; then
  quick=(--quick)
  shift
  docs=$(mktemp -d)
  mkdir -p "$docs/pictures" "$docs/physics"
  cp docs/physics/contact.md "$docs/physics/"
fi
sweep=${1:-build/experiments/contact_sweep}
pictures=$docs/pictures
mkdir -p "$pictures"

for robot in ant halfcheetah; do
  "$sweep" table "$robot" "${quick[@]}" > "$pictures/contact_table_$robot.csv"
  "$sweep" gains "$robot" "${quick[@]}" > "$pictures/contact_gain_$robot.csv"
  "$sweep" random "$robot" > "$pictures/contact_random_$robot.csv"
done
"$sweep" falls > "$pictures/contact_falls.csv"
"$sweep" slides > "$pictures/contact_slides.csv"
gnuplot -e "folder='$pictures'" experiments/contact_sweep.gnuplot

# Replaces what stands between "<!-- NAME -->" and "<!-- end -->" by the standard input.
splice() {
  awk -v name="<!-- $1 -->" -v table="$(cat)" '
    $0 == name { print; print table; skip = 1 }
    $0 == "<!-- end -->" { skip = 0 }
    !skip || $0 == "<!-- end -->" { if ($0 != name) print }' "$docs/physics/contact.md" > "$docs/physics/contact.md.new"
  mv "$docs/physics/contact.md.new" "$docs/physics/contact.md"
}

# CSV columns by their names, as a Markdown table: columns FILE NAME=TITLE …
columns() {
  local file=$1
  shift
  awk -F, -v wanted="$(printf '%s\n' "$@")" '
    BEGIN { n = split(wanted, pair, "\n") }
    NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i }
    { line = "|"; rule = "|"
      for (k = 1; k <= n; ++k) {
        sign = index(pair[k], "="); m = split(substr(pair[k], 1, sign - 1), names, "/"); cell = ""
        for (j = 1; j <= m; ++j) cell = cell (j > 1 ? " / " : "") $(at[names[j]])
        if (NR == 1) cell = substr(pair[k], sign + 1)
        else if (cell ~ /^[ \/]*$/) cell = "–"
        line = line " " cell " |"; rule = rule " --- |"
      }
      print line
      if (NR == 1) print rule }' "$file"
}

for robot in ant halfcheetah; do
  csv=$pictures/contact_table_$robot.csv
  columns "$csv" "candidate=candidate" "substeps=steps" "diverged=diverged, of 1000" "gain_median/gain_max=gain, median / max" \
    "snr1/snr5/snr10/snr20=S/N, h = 1 / 5 / 10 / 20" "small_snr10=S/N, small actions, h = 10" | splice "gradients $robot"
  columns "$csv" "candidate=candidate" "joints_0.1/joints_0.5/joints_1=joints, rad" "root_0.1/root_0.5/root_1=torso, m" \
    "length=random: steps" "speed_sum=Σ speed" "airborne=airborne" "height=height, m" | splice "motion $robot"
  columns "$csv" "candidate=candidate" "idle_alive=alive" "idle_speed_sum=Σ speed" "idle_height=height, m" \
    "depth_mm=depth, mm" "creep_mm_s=creep, mm/s" | splice "rest $robot"
done
echo "contact_sweep: wrote $docs/physics/contact.md and $pictures/contact_*"
