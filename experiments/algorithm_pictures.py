"""The curves of docs/algorithms/: each algorithm of one or more folders of `cgpo compare` beside the first one. Needs gnuplot.
usage: python3 experiments/algorithm_pictures.py OUT FOLDER …"""
import json
import os
import subprocess
import sys

out, folders = sys.argv[1], sys.argv[2:]
tables = [json.load(open(f"{folder}/table.json")) for folder in folders]
names = [entry["name"] for entry in tables[0]["algorithms"]]
os.makedirs(out, exist_ok=True)


def line(folder, name, mean, colour):
    file = f"'{folder}/curve-{name}.csv' skip 1"
    return [f"{file} using 3:{mean + 1}:{mean + 2} with filledcurves lc rgb '{colour}' notitle",
            f"{file} using 3:{mean} with lines lw 2 lc rgb '{colour}' title '{name}'"]


for name in names[1:]:
    script = ["set datafile separator ','", "set datafile missing 'nan'", f"set output '{out}/{name}.svg'",
              f"set terminal svg noenhanced size {330 * len(tables)},560 font 'sans,11' background 'white'",
              f"set multiplot layout 2,{len(tables)}", "set grid lc rgb '#dddddd'", "set key below samplen 2",
              "set style fill transparent solid 0.2 noborder", "set autoscale xfix", "set format x '%.0s%c'", "set xtics 1e6", "set xlabel 'environment steps'"]
    for mean in (5, 8):
        for folder, table in zip(folders, tables):
            cost = table["costs"][0]
            script.append(f"set title '{table['task']}: {'return' if mean == 5 else 'cost ' + cost['name']}'")
            curves = line(folder, names[0], mean, "#1f6fb4") + line(folder, name, mean, "#d95f02")
            if mean == 8:
                curves.append(f"{cost['limit']} with lines lw 2 dt 2 lc rgb 'black' title 'limit'")
            script.append("plot " + ", ".join(curves))
    subprocess.run(["gnuplot"], input="\n".join(script) + "\nunset multiplot\n", text=True, check=True)
