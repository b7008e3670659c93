#!/usr/bin/env bash
# Our dynamics beside MuJoCo's on robots that are not ours: fetches them if FOLDER is empty, runs `cgpo model` on each on
# 1000 random states, and writes the table of docs/physics/foreign-robots.md (with PAGE = - to standard output only). Exit code 1
# if any of them is wrong. usage: experiments/foreign_robots.sh [PROGRAM] [FOLDER] [PAGE]
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
cgpo=$(realpath "${1:-build/bin/cgpo}")
folder=${2:-runs/foreign-robots}
page=${3:-$here/docs/physics/foreign-robots.md}
[ -f "$folder/packages.txt" ] || "$here/scripts/foreign_robots.sh" "$folder"
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
cd "$folder"
for robot in gymnasium/*.xml dm_control/*.xml; do
  mkdir -p "$results/$(dirname "$robot")"
  code=0
  "$cgpo" model "$robot" --json > "$results/$robot.json" 2> "$results/$robot.err" || code=$?
  echo "$code" > "$results/$robot.code"
done
[ ! -e MUJOCO_LOG.TXT ] || { echo "foreign_robots: MuJoCo wrote a log" >&2; exit 1; }
packages=$(sed 's/==/ /' packages.txt | paste -sd, | sed 's/,/, /g')
cd "$here"
python3 - "$results" "$page" "$packages" << 'PYTHON'
import collections, glob, json, os, sys
results, page, packages = sys.argv[1:]
tolerance, wrong = 1e-10, []

def summary(elements):
    """Elements of one kind together; a few are named, many are counted."""
    kinds = collections.defaultdict(list)
    for element in elements:
        name, _, what = element.partition(": ")
        if name.startswith("option"):
            name, what = name.removeprefix("option integrator "), "integrator"
        what = what.split(" with ")[0] if what.startswith("contact of") else what
        kinds[what].append(name)
    return "; ".join(f"{what}: {', '.join(names)}" if len(names) <= 2 else f"{what}: {len(names)}"
                     for what, names in kinds.items())

rows = []
for path in sorted(glob.glob(f"{results}/*/*.json"), key=lambda p: (p.split("/")[-2] != "gymnasium", p)):
    robot = os.path.relpath(path, results)[:-len(".xml.json")]
    code = int(open(path[:-5] + ".code").read())
    if code == 2:
        reason = open(path[:-5] + ".err").read().strip().split(".xml", 1)[-1].lstrip(": ")
        reason = reason.replace("<", "`<").replace(">", ">`")
        rows.append(f"| {robot} | | | | | | | | refused: {reason} |")
        continue
    model = json.loads(open(path).read()) if os.path.getsize(path) else None
    if code != 0 or model is None:
        wrong.append(robot)
    if model is None:
        continue
    error = [model["max_error_supported"][k] for k in ("mass_matrix", "bias", "passive", "acceleration")]
    if any(e is None or not e <= tolerance for e in error):
        wrong.append(robot)
    numbers = " | ".join("nan" if e is None else "0" if e == 0 else f"{e:.0e}" for e in error)
    rows.append(f"| {robot} | {model['nq']} | {model['nv']} | {model['contacts']} | {numbers} | {summary(model['unsupported'])} |")
table = [f"From {packages}, on 1000 random states each.", "",
         "| robot | q | v | contact points | mass matrix | bias | passive | acceleration | left out |",
         "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"] + rows
if page == "-":
    print("\n".join(table))
else:
    text = open(page).read()
    begin, end = "<!-- begin of the table -->\n", "<!-- end of the table -->"
    head, tail = text.split(begin)[0], text.split(end)[1]
    open(page, "w").write(head + begin + "\n".join(table) + "\n" + end + tail)
print(f"{len(rows)} robots, {len(wrong)} wrong{': ' if wrong else ''}{', '.join(wrong)}", file=sys.stderr)
sys.exit(1 if wrong else 0)
PYTHON
