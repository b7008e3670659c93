#!/usr/bin/env python3
"""Every robot and algorithm with shipped defaults on seeds that nobody tuned to, many runs side by side, one thread each.

run:     trains, judges the last policy with noise and deployed, and appends a line a run to FOLDER/results.jsonl. What
         has a line is not run again. Needs the program and python3, nothing else.
publish: writes docs/results/generated/fresh.md, the rows of docs/results/robots.md and of the README, and the Pareto
         picture's data from one or more such files; with --legged the rows of docs/tasks/legged.md, and from the runs
         beside those files the picture of how they learned.
"""
import argparse
import json
import os
import statistics
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TASKS = ["cartpole", "reacher", "halfcheetah", "ant"]
LEGGED = ["hopper", "walker2d", "quadruped", "humanoid"]
LIMITS = {"cartpole": -50, "reacher": 400, "halfcheetah": 400, "ant": 1000,
          "hopper": 300, "walker2d": 250, "quadruped": 500, "humanoid": 200}
PAPER = {"cartpole": ("3.96", "1.77e6"), "reacher": ("14.29", "1.15e6"), "halfcheetah": ("7.31", "2.02e6"),
         "ant": ("6.44", "8.52e6")}  # share of updates over the limit, steps until converged
BASELINES = ["cpo", "pdo", "appo", "cup", "shac-lag", "bptt-lag"]


def metrics(log):
    """Share of updates over a limit by more than 1 %, and steps until converged, by the strict rule of docs/guide/compare.md.

    Iterations that prepare on our engine count as iterations and steps, and as where the returns begin (src/judge/metrics.hpp)."""
    limits = log[0]["limits"]
    size = [max(abs(b), 1.0) for b in limits]
    judged = [line.get("stage") != "own" for line in log]
    feasible = [ours and all(c <= b for c, b in zip(line["costs"], limits)) for ours, line in zip(judged, log)]
    over = sum(ours and any(c > b + 0.01 * s for c, b, s in zip(line["costs"], limits, size))
               for ours, line in zip(judged, log)) / sum(judged)
    returns = [line["return"] for line in log]
    window = max(1, round(0.1 * len(log)))
    best = max((r for r, ok in zip(returns, feasible) if ok), default=None)
    if best is None:
        return over, None
    least = best - 0.05 * (max(r for r, ours in zip(returns, judged) if ours) - min(returns))
    for k in range(len(log) - window):
        if all(feasible[j] and returns[j] >= least for j in range(k, k + window + 1)):
            return over, log[k]["steps"]
    return over, None


def core_seconds_of(command):
    """Runs it; what it took of a core, which says more than a clock does while others compute, too."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return usage.ru_utime + usage.ru_stime


def one_run(program, folder, episodes, algorithm, task, seed):
    run = folder / f"{algorithm}-{task}-{seed}"
    train = [program, "train", task, "--algo", algorithm, "--seed", str(seed), "--threads", "1", "--force", "--out", str(run)]
    core_seconds = core_seconds_of(train)
    log = [json.loads(line) for line in open(run / "log.jsonl")]
    over, converged = metrics(log)

    def judged(*more):
        evaluation = subprocess.run([program, "eval", str(run), "--threads", "1", "--json", *more], check=True,
                                    capture_output=True, text=True)
        return json.loads(evaluation.stdout)

    report = judged("--episodes", str(episodes))
    pair = lambda part: [part["return"]["mean"], [cost["mean"] for cost in part["costs"]]]
    line = {"name": algorithm, "task": task, "seed": seed, "over": over, "conv": converged, "steps": log[-1]["steps"],
            "seconds": log[-1]["seconds"], "core_seconds": core_seconds, "n_end": log[-1]["episodes"], "noise": log[-1]["noise"],
            "noisy": pair(report), "dep": pair(report["deployed"])}
    if task in LEGGED:
        line["mujoco"] = pair(judged("--engine", "mujoco", "--episodes", "64")["deployed"])
    return line


def run(options):
    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    results = folder / "results.jsonl"
    done = set()
    if results.exists():
        done = {(d["name"], d["task"], d["seed"]) for d in map(json.loads, open(results))}
    # Seed by seed, so that whenever it is stopped, all tasks have had the same ones.
    todo = [(a, t, s) for s in range(options.first_seed, options.first_seed + max(options.seeds, options.baseline_seeds))
            for t in options.tasks for a in options.algos
            if s < options.first_seed + (options.seeds if a == "cgpo" else options.baseline_seeds) and (a, t, s) not in done]

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


def columns(task, runs):
    """What both kinds of rows are made of, as text."""
    mean = statistics.mean
    returns = {key: [r[key][0] for r in runs] for key in ("noisy", "dep")}
    costs = {key: [r[key][1][0] for r in runs] for key in ("noisy", "dep")}
    converged = [r["conv"] for r in runs if r["conv"]]
    number = lambda values: f"{mean(values):.1f} ({min(values):.1f})"
    return {"returns": [number(returns["noisy"]), number(returns["dep"])],
            "costs": [f"{mean(costs['noisy']):.1f}", f"{mean(costs['dep']):.1f}"],
            "largest": f"{max(map(max, costs.values())):.1f}",
            "kept": f"{sum(max(pair) <= LIMITS[task] for pair in zip(*costs.values()))} of {len(runs)}",
            "over": f"{100 * mean(r['over'] for r in runs):.1f} %",
            "after": f"{mean(converged) / 1e6:.2f}e6" if converged else "",
            "converged": f"{len(converged)} of {len(runs)}", "all": len(converged) == len(runs)}


def table_row(name, task, runs):
    c = columns(task, runs)
    after = f"{c['after']} ({c['converged']})" if c["after"] else c["converged"]
    steps = f"{statistics.mean(r['steps'] for r in runs) / 1e6:.2f}e6"
    return "| " + " | ".join([name, *c["returns"], *c["costs"], c["largest"], c["kept"], c["over"], after, steps]) + " |"


def short_rows(task, runs):
    """Of CGPO: the rows of docs/results/robots.md and of the README."""
    c = columns(task, runs)
    over, steps = PAPER[task]
    seeds = [r["seed"] for r in runs]
    cost = f"{', '.join(c['costs'])} ({c['largest']})"
    after = c["after"] if c["all"] else f"{c['after']} ({c['converged']})"
    deployed = c["returns"][1].split()[0]
    return (f"| {task} | {min(seeds)}–{max(seeds)} | {' | '.join(c['returns'])} | {cost} | {LIMITS[task]} | {c['kept']} | "
            f"{c['over']} | {after} | {steps} |",
            f"| [{task}](docs/tasks/{task}.md) | {c['returns'][0]} | {deployed} | {cost} | {LIMITS[task]} | "
            f"{c['over']} [{over} %] | {c['after']} [{steps}] |")


def legged_row(task, runs):
    """Of CGPO: a row of docs/tasks/legged.md."""
    c = columns(task, runs)
    there = {k: statistics.mean(r["mujoco"][0] if k == "return" else r["mujoco"][1][0] for r in runs)
             for k in ("return", "cost")}
    seeds = [r["seed"] for r in runs]
    return "| " + " | ".join([
        task, f"{min(seeds)}–{max(seeds)}", *c["returns"], f"{', '.join(c['costs'])} ({c['largest']})", str(LIMITS[task]),
        c["kept"], c["over"], f"{c['after']} ({c['converged']})" if c["after"] else c["converged"],
        f"{there['return']:.0f} at {there['cost']:.0f}"]) + " |"


def refresh(path, beginning, row):
    lines = Path(path).read_text().split("\n")
    number = next(i for i, line in enumerate(lines) if line.startswith(beginning))
    lines[number] = row
    Path(path).write_text("\n".join(lines))


def publish(options):
    rows = rows_of(options.results)
    if options.legged:
        for task in LEGGED:
            refresh("docs/tasks/legged.md", f"| {task} |", legged_row(task, rows[task, "cgpo"]))
        draw_legged({path: Path(path).parent for path in options.results}, Path(options.pictures) / "legged.svg")
        return
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
        page += [table_row(name, task, rows[task, name]) for name in ["cgpo"] + BASELINES if (task, name) in rows]
        page.append("")
        for name in ["cgpo"] + BASELINES:
            points = [f"{r['conv'] / 1e6:.4f},{100 * r['over']:.2f}\n" for r in rows.get((task, name), []) if r["conv"]]
            if points:
                (data / f"fresh_pareto_{task}_{name}.csv").write_text("".join(points))
    Path(options.page).write_text("\n".join(page).rstrip() + "\n")
    draw(data)


def draw(data):
    script = ["set terminal svg size 900,700 background 'white' font 'sans,13'", "set output 'fresh_pareto.svg'",
              "set datafile separator ','", "set logscale x", "set multiplot layout 2,2",
              "set ylabel 'updates over the limit (%)'", "set xlabel 'steps until converged (1e6)'", "set yrange [-1:40]",
              "set key font ',10' samplen 1"]
    for task in TASKS:
        parts = [f"'fresh_pareto_{task}_{name}.csv' using 1:2 with points pt {i + 4} ps 0.8 title '{name}'"
                 for i, name in enumerate(["cgpo"] + BASELINES) if (data / f"fresh_pareto_{task}_{name}.csv").exists()]
        script += [f"set title '{task}'", "plot " + ", ".join(parts)]
    (data / "fresh_pareto.gnuplot").write_text("\n".join(script) + "\n")
    subprocess.run(["gnuplot", "fresh_pareto.gnuplot"], cwd=data, check=True)


def draw_legged(folders, picture):
    """Return and cost of every seed over steps, a column a robot."""
    script = ["set terminal svg size 1100,560 background 'white' font 'sans,12'", f"set output '{picture}'",
              "set multiplot layout 2,4", "unset key", "set format x '%.0f'"]
    seeds = {task: [folder / f"cgpo-{task}-{line['seed']}" / "log.jsonl" for path, folder in folders.items()
                    for line in map(json.loads, open(path)) if line["task"] == task] for task in LEGGED}
    logs = {task: [[json.loads(line) for line in open(path)] for path in paths] for task, paths in seeds.items()}
    for row in ("return", "cost"):
        for task in LEGGED:
            script += [f"set title '{task}'" if row == "return" else "unset title",
                       f"set ylabel '{row}'" if task == LEGGED[0] else "unset ylabel",
                       "unset xlabel" if row == "return" else "set xlabel 'steps (1e6)'"]
            lines = ["'-' with lines lc rgb '#4477aa' lw 0.7"] * len(logs[task])
            if row == "cost":
                lines.append(f"{LIMITS[task]} with lines dt 2 lc rgb '#cc3311'")
            script.append("plot " + ", ".join(lines))
            for log in logs[task]:
                values = [(line["steps"] / 1e6, line["return"] if row == "return" else line["costs"][0]) for line in log]
                script += [f"{x:.2f} {y:.0f}" for x, y in values[::3] + values[-1:]] + ["e"]
    subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    runner = commands.add_parser("run")
    runner.add_argument("--program", default="build/bin/cgpo")
    runner.add_argument("--out", default="runs/fresh")
    runner.add_argument("--jobs", type=int, default=os.cpu_count())
    runner.add_argument("--first-seed", type=int, default=1000)
    runner.add_argument("--tasks", nargs="+", default=TASKS, choices=TASKS + LEGGED)
    runner.add_argument("--algos", nargs="+", default=["cgpo"] + BASELINES, choices=["cgpo"] + BASELINES)
    runner.add_argument("--seeds", type=int, default=20, help="of cgpo")
    runner.add_argument("--baseline-seeds", type=int, default=5)
    runner.add_argument("--episodes", type=int, default=8192)
    runner.set_defaults(do=run)
    publisher = commands.add_parser("publish")
    publisher.add_argument("results", nargs="+")
    publisher.add_argument("--page", default="docs/results/generated/fresh.md")
    publisher.add_argument("--legged", action="store_true")
    publisher.add_argument("--pictures", default="docs/pictures/results")
    publisher.set_defaults(do=publish)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
