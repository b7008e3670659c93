"""The README's table of algorithms, from the table.json of one or more folders of `cgpo compare`.
usage: python3 experiments/compare_summary.py FOLDER …"""
import json
import sys

tables = [json.load(open(f"{folder}/table.json")) for folder in sys.argv[1:]]


def number(value):
    digits = 1 if abs(value["mean"]) < 50 else 0
    return f"{value['mean']:.{digits}f} ± {value['half_width']:.{digits}f}"


def steps(value, seeds):
    if not value or not value["runs"]:
        return "–"
    return f"{value['mean'] / 1e6:.2f}e6" + ("" if value["runs"] == seeds else f" ({value['runs']} of {seeds})")


print("| algorithm | " + " | ".join(f"{table['task']}: return at cost (limit {table['costs'][0]['limit']:g}) | converged, strictly | updates over the limit" for table in tables) + " |")
print("| --- |" + " --- | --- | --- |" * len(tables))
for row, first in enumerate(tables[0]["algorithms"]):
    cells = []
    for table in tables:
        entry = table["algorithms"][row]
        cells += [f"{number(entry['return'])} at {number(entry['costs'][0])}", steps(entry["convergence_strict"], len(entry["runs"])),
                  f"{100 * entry['violations_whole']['mean']:.1f} %"]
    print(f"| {first['name']} | " + " | ".join(cells) + " |")
