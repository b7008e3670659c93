#!/usr/bin/env python3
"""Every robot and algorithm with shipped defaults on seeds that nobody tuned to, many runs side by side, one thread each.

run:     trains, judges the last policy with noise and deployed, and appends a line a run to FOLDER/results.jsonl. What
         has a line is not run again. Needs the program and python3, nothing else.
publish: writes docs/results/generated/fresh.md, the rows of docs/results/robots.md and of the README, and the Pareto
         picture's data from one or more such files.
"""
import argparse
import json
import os
import statistics
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TASKS = ["cartpole", "reacher", "halfcheetah", "ant"]
LIMITS = {"cartpole": -50, "reacher": 400, "halfcheetah": 400, "ant": 1000}
PAPER = {"cartpole": ("3.96", "1.77e6"), "reacher": ("14.29", "1.15e6"), "halfcheetah": ("7.31", "2.02e6"),
         "ant": ("6.44", "8.52e6")}  # share of updates over the limit, steps until converged
BASELINES = ["cpo", "pdo", "appo", "cup", "shac-lag", "bptt-lag"]


def metrics(log):
    """Share of updates over a limit by more than 1 %, and steps until converged, by the strict rule of docs/guide/compare.md."""
    limits = log[0]["limits"]
    size = [max(abs(b), 1.0) for b in limits]
    feasible = [all(c <= b for c, b in zip(line["costs"], limits)) for line in log]
    over = sum(any(c > b + 0.01 * s for c, b, s in zip(line["costs"], limits, size)) for line in log) / len(log)
    returns = [line["return"] for line in log]
    window = max(1, round(0.1 * len(log)))
    best = max((r for r, ok in zip(returns, feasible) if ok), default=None)
    if best is None:
        return over, None
    least = best - 0.05 * (max(returns) - min(returns))
    for k in range(len(log) - window):
        if all(feasible[j] and returns[j] >= least for j in range(k, k + window + 1)):
            return over, log[k]["steps"]
    return over, None


def one_run(program, folder, episodes, algorithm, task, seed):
    run = folder / f"{algorithm}-{task}-{seed}"
    train = [program, "train", task, "--algo", algorithm, "--seed", str(seed), "--threads", "1", "--force", "--out", str(run)]
    subprocess.run(train, check=True, capture_output=True)
    log = [json.loads(line) for line in open(run / "log.jsonl")]
    over, converged = metrics(log)
    judged = subprocess.run([program, "eval", str(run), "--episodes", str(episodes), "--threads", "1", "--json"], check=True,
                            capture_output=True, text=True)
    report = json.loads(judged.stdout)
    pair = lambda part: [part["return"]["mean"], [cost["mean"] for cost in part["costs"]]]
    return {"name": algorithm, "task": task, "seed": seed, "over": over, "conv": converged, "steps": log[-1]["steps"],
            "seconds": log[-1]["seconds"], "n_end": log[-1]["episodes"], "noise": log[-1]["noise"],
            "noisy": pair(report), "dep": pair(report["deployed"])}


def run(options):
    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    results = folder / "results.jsonl"
    done = set()
    if results.exists():
        done = {(d["name"], d["task"], d["seed"]) for d in map(json.loads, open(results))}
    todo = [(a, t, s) for t in options.tasks for a in ["cgpo"] + BASELINES
            for s in range(options.first_seed, options.first_seed + (options.seeds if a == "cgpo" else options.baseline_seeds))
            if (a, t, s) not in done]

    def work(job):
        line = one_run(options.program, folder, options.episodes, *job)
        with open(results, "a") as file:
            file.write(json.dumps(line) + "\n")

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(work, todo))


def rows_of(paths):
    rows = {}
    for path in paths:
        for line in map(json.loads, open(path)):
            if line["seed"] >= 1000 and "dep" in line:
                rows.setdefault((line["task"], line["name"]), []).append(line)
    return rows


def table_row(name, runs, limit):
    mean = statistics.mean
    least = lambda key: min(r[key][0] for r in runs)
    cost = lambda key: [r[key][1][0] for r in runs]
    kept = sum(max(a, b) <= limit for a, b in zip(cost("noisy"), cost("dep")))
    converged = [r["conv"] for r in runs if r["conv"]]
    steps = f"{mean(converged) / 1e6:.2f}e6 ({len(converged)} of {len(runs)})" if converged else f"0 of {len(runs)}"
    number = lambda key: f"{mean(r[key][0] for r in runs):.1f} ({least(key):.1f})"
    return (f"| {name} | {number('noisy')} | {number('dep')} | {mean(cost('noisy')):.1f} | {mean(cost('dep')):.1f} | "
            f"{max(max(a, b) for a, b in zip(cost('noisy'), cost('dep'))):.1f} | {kept} of {len(runs)} | "
            f"{100 * mean(r['over'] for r in runs):.1f} % | {steps} | {mean(r['steps'] for r in runs) / 1e6:.2f}e6 |")


def short_rows(task, runs):
    """Of CGPO: the rows of docs/results/robots.md and of the README."""
    mean = statistics.mean
    returns = {key: [r[key][0] for r in runs] for key in ("noisy", "dep")}
    costs = {key: [r[key][1][0] for r in runs] for key in ("noisy", "dep")}
    over, steps = PAPER[task]
    kept = sum(max(pair) <= LIMITS[task] for pair in zip(*costs.values()))
    converged = [r["conv"] for r in runs if r["conv"]]
    after = f"{mean(converged) / 1e6:.2f}e6"
    cost = f"{mean(costs['noisy']):.1f}, {mean(costs['dep']):.1f} ({max(map(max, costs.values())):.1f})"
    with_noise = f"{mean(returns['noisy']):.1f} ({min(returns['noisy']):.1f})"
    times_over = f"{100 * mean(r['over'] for r in runs):.1f} %"
    first, last = min(r["seed"] for r in runs), max(r["seed"] for r in runs)
    some = "" if len(converged) == len(runs) else f" ({len(converged)} of {len(runs)})"
    return (f"| {task} | {first}–{last} | {with_noise} | {mean(returns['dep']):.1f} ({min(returns['dep']):.1f}) | {cost} | "
            f"{LIMITS[task]} | {kept} of {len(runs)} | {times_over} | {after}{some} | {steps} |",
            f"| [{task}](docs/tasks/{task}.md) | {with_noise} | {mean(returns['dep']):.1f} | {cost} | {LIMITS[task]} | "
            f"{times_over} [{over} %] | {after} [{steps}] |")


def refresh(path, beginning, row):
    lines = Path(path).read_text().split("\n")
    number = next(i for i, line in enumerate(lines) if line.startswith(beginning))
    lines[number] = row
    Path(path).write_text("\n".join(lines))


def publish(options):
    rows = rows_of(options.results)
    for task in TASKS:
        of_results, of_readme = short_rows(task, rows[task, "cgpo"])
        refresh("docs/results/robots.md", f"| {task} |", of_results)
        refresh("README.md", f"| [{task}](docs/tasks/", of_readme)
    page = ["# The robots on fresh seeds", "",
            "Written by `experiments/fresh_seeds.py publish`: seeds 1000 and up, run once, with shipped defaults. Return: mean",
            "(worst seed). Kept: seeds whose cost is within the limit both with noise and deployed. Over: share of all updates",
            "more than 1 % over the limit. Converged: steps, warm-up and deployed episodes counted, in how many of the seeds.", ""]
    data = Path(options.pictures)
    data.mkdir(parents=True, exist_ok=True)
    for task in TASKS:
        page += [f"## {task}, limit {LIMITS[task]}", "",
                 "| algorithm | return with noise | return deployed | cost with noise | cost deployed | largest cost | kept | over "
                 "| converged | steps |", "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
        page += [table_row(name, rows[task, name], LIMITS[task]) for name in ["cgpo"] + BASELINES if (task, name) in rows]
        page.append("")
        for name in ["cgpo"] + BASELINES:
            with open(data / f"fresh_pareto_{task}_{name}.csv", "w") as file:
                for r in rows.get((task, name), []):
                    if r["conv"]:
                        file.write(f"{r['conv'] / 1e6:.4f},{100 * r['over']:.2f}\n")
    Path(options.page).write_text("\n".join(page).rstrip() + "\n")
    draw(data)


def draw(data):
    script = ["set terminal svg size 900,700 background 'white' font 'sans,13'", "set output 'fresh_pareto.svg'",
              "set datafile separator ','", "set logscale x", "set multiplot layout 2,2",
              "set ylabel 'updates over the limit (%)'", "set xlabel 'steps until converged (1e6)'", "set yrange [-1:40]",
              "set key font ',10' samplen 1"]
    for task in TASKS:
        parts = [f"'fresh_pareto_{task}_{name}.csv' using 1:2 with points pt {i + 4} ps 0.8 title '{name}'"
                 for i, name in enumerate(["cgpo"] + BASELINES) if os.path.getsize(data / f"fresh_pareto_{task}_{name}.csv")]
        script += [f"set title '{task}'", "plot " + ", ".join(parts)]
    (data / "fresh_pareto.gnuplot").write_text("\n".join(script) + "\n")
    subprocess.run(["gnuplot", "fresh_pareto.gnuplot"], cwd=data, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    runner = commands.add_parser("run")
    runner.add_argument("--program", default="build/bin/cgpo")
    runner.add_argument("--out", default="runs/fresh")
    runner.add_argument("--jobs", type=int, default=os.cpu_count())
    runner.add_argument("--first-seed", type=int, default=1000)
    runner.add_argument("--tasks", nargs="+", default=TASKS, choices=TASKS)
    runner.add_argument("--seeds", type=int, default=20, help="of cgpo")
    runner.add_argument("--baseline-seeds", type=int, default=5)
    runner.add_argument("--episodes", type=int, default=8192)
    runner.set_defaults(do=run)
    publisher = commands.add_parser("publish")
    publisher.add_argument("results", nargs="+")
    publisher.add_argument("--page", default="docs/results/generated/fresh.md")
    publisher.add_argument("--pictures", default="docs/pictures/results")
    publisher.set_defaults(do=publish)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
