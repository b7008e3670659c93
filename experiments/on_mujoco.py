#!/usr/bin/env python3
"""Robots trained on MuJoCo itself with shipped defaults, on seeds that nobody tuned to, one thread each.

run:     trains, judges the last policy on MuJoCo with the task's own step, with noise and deployed, and appends a line a run
         to FOLDER/results.jsonl. What has a line is not run again. Needs the program and python3, nothing else.
publish: writes the table of docs/guide/their-simulator.md from one or more such files.
"""
import argparse
import json
import os
import statistics
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fresh_seeds import core_seconds_of, metrics

# What it is called: the task, its settings beside the engine, its limit.
ROBOTS = {
    "halfcheetah": ("halfcheetah", [], 400),
    "swimmer": ("swimmer", [], 150),
    "ant, 2.5 ms": ("ant", ["task.substeps=20"], 1000),
    "ant, 10 ms": ("ant", [], 1000),
    "hopper": ("hopper", [], 300),
    "walker2d": ("walker2d", [], 250),
    "quadruped": ("quadruped", [], 500),
}
TABLE = ("<!-- measured on MuJoCo -->", "<!-- end of measured on MuJoCo -->")


def one_run(options, folder, name, seed):
    task, more, _ = ROBOTS[name]
    run = folder / f"{options.algo}-{name.replace(', ', '-').replace(' ', '')}-{seed}"
    train = [options.program, "train", task, "--algo", options.algo, "--seed", str(seed), "--threads", "1", "--force", "--out",
             str(run), "--set", "task.engine=mujoco", *more, *options.set]
    core_seconds = core_seconds_of(train)
    log = [json.loads(line) for line in open(run / "log.jsonl")]
    over, converged = metrics(log)
    converged_on_task = next((line.get("steps_task", line["steps"]) for line in log if line["steps"] == converged), None)
    found = subprocess.run([options.program, "eval", str(run), "--threads", "1", "--json", "--episodes", str(options.episodes)],
                           check=True, capture_output=True, text=True)
    report = json.loads(found.stdout)
    part = lambda of: {"return": of["return"]["mean"], "cost": of["costs"][0]["mean"], "se": of["costs"][0]["se"],
                       "verdict": of["costs"][0]["verdict"]}
    return {"name": name, "algo": options.algo, "seed": seed, "set": options.set, "over": over, "conv": converged, "conv_task": converged_on_task,
            "steps": log[-1]["steps"], "steps_task": log[-1].get("steps_task"), "core_seconds": core_seconds,
            "noisy": part(report), "deployed": part(report["deployed"])}


def run(options):
    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    results = folder / "results.jsonl"
    done = set()
    if results.exists():
        done = {(d["name"], d["algo"], d["seed"]) for d in map(json.loads, open(results))}
    # Seed by seed, so that whenever it is stopped, all robots have had the same ones.
    todo = [(name, seed) for seed in range(options.first_seed, options.first_seed + options.seeds) for name in options.robots
            if (name, options.algo, seed) not in done]

    def work(job):
        line = one_run(options, folder, *job)
        with open(results, "a") as file:
            file.write(json.dumps(line) + "\n")

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(work, todo))


def steps_text(steps):
    steps = [s / 1e6 for s in steps]
    return f"{min(steps):.2f}e6 to {max(steps):.2f}e6" if f"{min(steps):.2f}" != f"{max(steps):.2f}" else f"{steps[0]:.2f}e6"


def row(name, algo, runs):
    limit = ROBOTS[name][2]
    value = lambda part, key: [r[part][key] for r in runs]
    returns = lambda part: f"{statistics.mean(value(part, 'return')):.1f} ({min(value(part, 'return')):.1f})"
    costs = [f"{statistics.mean(value(part, 'cost')):.1f}" for part in ("noisy", "deployed")]
    largest = max(value("noisy", "cost") + value("deployed", "cost"))
    kept = [all(r[part]["cost"] <= limit for part in ("noisy", "deployed")) for r in runs]
    surely = [all(r[part]["cost"] + 1.645 * r[part]["se"] <= limit for part in ("noisy", "deployed")) for r in runs]
    converged = [(r["conv"], r["conv_task"]) for r in runs if r["conv"]]
    after = " of ".join(f"{statistics.mean(steps) / 1e6:.2f}e6" for steps in zip(*[c[::-1] for c in converged]))
    after = f"{after} ({len(converged)})" if converged else "– (0)"
    seconds = [r["core_seconds"] for r in runs]
    seeds = [r["seed"] for r in runs]
    return "| " + " | ".join([
        name, algo, f"{min(seeds)}–{max(seeds)}", returns("noisy"), returns("deployed"), f"{', '.join(costs)} ({largest:.1f})",
        str(limit), f"{sum(kept)}, {sum(surely)} of {len(runs)}", f"{100 * statistics.mean(r['over'] for r in runs):.1f} %", after,
        steps_text([r["steps"] for r in runs]), f"{min(seconds):.0f} to {max(seconds):.0f}"]) + " |"


def publish(options):
    rows = {}
    for path in options.results:
        for line in map(json.loads, open(path)):
            if line["seed"] >= 1000 and not line["set"]:
                rows.setdefault((line["name"], line["algo"]), []).append(line)
    table = ["| | algorithm | seeds | return: mean (worst) | deployed | cost: mean, deployed (largest) | limit | kept, with 95 % | updates over "
             "| steps until converged: of MuJoCo, of all (seeds) | steps, a run | seconds of a core |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    table += [row(name, algo, rows[name, algo]) for name in ROBOTS for algo in ("cgpo", "cpo") if (name, algo) in rows]
    page = Path(options.page)
    before, rest = page.read_text().split(TABLE[0])
    page.write_text(before + "\n".join([TABLE[0], *table, TABLE[1]]) + rest.split(TABLE[1])[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    runner = commands.add_parser("run")
    runner.add_argument("--program", default="build/bin/cgpo")
    runner.add_argument("--out", default="runs/on_mujoco")
    runner.add_argument("--jobs", type=int, default=os.cpu_count())
    runner.add_argument("--robots", nargs="+", default=list(ROBOTS), choices=list(ROBOTS))
    runner.add_argument("--algo", default="cgpo", choices=["cgpo", "cpo"])
    runner.add_argument("--set", nargs="+", default=[], help="more settings; such runs are never published")
    runner.add_argument("--first-seed", type=int, default=1000)
    runner.add_argument("--seeds", type=int, default=10)
    runner.add_argument("--episodes", type=int, default=1024)
    runner.set_defaults(do=run)
    publisher = commands.add_parser("publish")
    publisher.add_argument("results", nargs="+")
    publisher.add_argument("--page", default="docs/guide/their-simulator.md")
    publisher.set_defaults(do=publish)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
