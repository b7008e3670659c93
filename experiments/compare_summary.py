"""The README's table of algorithms, from the table.json of one or more folders of `cgpo compare`.
usage: python3 experiments/compare_summary.py FOLDER …"""
import json
import sys

tables = [json.load(open(f"{folder}/table.json")) for folder in sys.argv[1:]]


def steps(value):
    return "–" if not value or not value["runs"] else f"{value['mean'] / 1e6:.2f}e6" + ("" if value["runs"] == seeds else f" ({value['runs']} of {seeds})")


print("| algorithm | " + " | ".join(f"{table['task']}: return | cost (limit {table['costs'][0]['limit']:g}) | converged, strictly | updates over the limit" for table in tables) + " |")
print("| --- |" + " --- | --- | --- | --- |" * len(tables))
for row, first in enumerate(tables[0]["algorithms"]):
    cells = []
    for table in tables:
        entry = table["algorithms"][row]
        seeds = len(entry["runs"])
        cells += [f"{entry['return']['mean']:.0f} ± {entry['return']['half_width']:.0f}", f"{entry['costs'][0]['mean']:.0f} ± {entry['costs'][0]['half_width']:.0f}",
                  steps(entry["convergence_strict"]), f"{100 * entry['violations_whole']['mean']:.1f} %"]
    print(f"| {first['name']} | " + " | ".join(cells) + " |")
