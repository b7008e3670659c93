#!/usr/bin/env python3
"""A search of equal size for every algorithm: the same number of variants of each, on the same seeds, judged by one rule.

    experiments/search.py [--program PROGRAM] [--out FOLDER] [--jobs J] [--tasks a,b] [--algos a,b] [--seeds N] [--page FILE]

Trains all variants of VARIANTS, J runs at a time with a thread each, in FOLDER/TASK/ENTRY-SEED, and lets `cgpo compare` judge
them. Writes FOLDER/search.json and a page with every variant that was tried and a mark at those that were chosen. Called again
it does what is missing, with more tasks, algorithms or seeds, too; what it wrote before about others stays in both. Ctrl-C
stops all runs after their iteration, with a checkpoint. Needs the program and Python, nothing else.

Seeds below 100 are for choosing, and a search that would leave them is refused."""
import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "results" / "generated" / "search.md"
FIRST_SEED_TO_PUBLISH = 1000
SEEDS_TO_CHOOSE = 100

TASKS = ["cartpole", "reacher", "halfcheetah", "ant"]

# Episodes an iteration, each and every one. The number of iterations follows: as many steps as the program's own settings take
# at most.
ENVIRONMENTS = {"ant": [32, 64, 256]}
USUAL_ENVIRONMENTS = [32, 64, 128]

# One more key of each, as multiples of what the task and the algorithm have.
VARIANTS = {
    "cgpo": ("radius.initial", [1, 4]),
    "ppo-lag": ("dual.learning_rate", [1, 3]),
    "ppo-pid": ("dual.learning_rate", [1, 3]),
    "trpo-lag": ("dual.learning_rate", [1, 3]),
    "pdo": ("dual.learning_rate", [1, 3]),
    "appo": ("dual.learning_rate", [1, 3]),
    "cpo": ("update.kl", [1, 2]),
    "focops": ("dual.learning_rate", [1, 3]),
    "cup": ("dual.learning_rate", [1, 3]),
    "bptt-lag": ("update.learning_rate", [1, 0.3]),
    "shac-lag": ("update.learning_rate", [1, 0.3]),
}


def run_json(command):
    """What a command of the program prints; one that fails says why by itself."""
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if not done.stdout:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}")
    return json.loads(done.stdout)


def number(value):
    return f"{value:.6g}"


def entries_of(program, task, algorithm):
    """The variants as `cgpo compare` writes them, NAME:KEY=VALUE:…, in the order of the tables above."""
    listed = run_json([program, "settings", task, "--algo", algorithm, "--json"])["settings"]
    usual = {setting["name"]: setting["default"] for setting in listed}
    key, factors = VARIANTS[algorithm]
    steps = usual["iterations"] * usual["environments"]
    entries = []
    for environments, factor in itertools.product(ENVIRONMENTS.get(task, USUAL_ENVIRONMENTS), factors):
        settings = {"environments": environments, "batch.adaptive": "false",
                    "iterations": max(1, round(steps / environments)),
                    key: number(usual[key] * factor)}
        entries.append((algorithm, settings))
    return entries


def entry_name(entry, options):
    algorithm, settings = entry
    if options.iterations:
        settings = {**settings, "iterations": options.iterations}
    return ":".join([algorithm] + [f"{key}={value}" for key, value in settings.items()])


def begin_comparison(task, folder):
    """A folder whose runs `cgpo compare` takes for its own."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "comparison.json").exists():
        (folder / "comparison.json").write_text(json.dumps({"task": task}) + "\n")


class Training:
    """Runs that go at the same time, each a process."""

    def __init__(self, options):
        self.options = options
        self.stopped = threading.Event()
        self.lock = threading.Lock()
        self.done = 0
        self.failed = []

    def train(self, task, name, seed, total):
        if self.stopped.is_set():
            return
        folder = self.options.out / task / f"{name}-{seed}"
        algorithm, *sets = name.split(":")
        command = [self.options.program, "train", task, "--threads", "1", "--out", str(folder)]
        if (folder / "config.toml").exists():
            command.append("--resume")
        else:
            command += ["--algo", algorithm, "--seed", str(seed), "--set", *sets]
        with open(f"{folder}.out", "ab") as out:
            code = subprocess.run(command, stdout=out, stderr=out, check=False).returncode
        with self.lock:
            self.done += 1
            if code != 0:
                self.failed.append(f"{folder}: exit code {code}")
            print(f"{self.done}/{total} {task} {name}-{seed}{'' if code == 0 else ' FAILED'}", file=sys.stderr, flush=True)

    def train_all(self, work):
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            futures = [pool.submit(self.train, *each, len(work)) for each in work]
            try:
                for future in futures:
                    future.result()
            except KeyboardInterrupt:  # the programs have had it, too, and stop by themselves
                self.stopped.set()
                sys.exit("stopped; the same command goes on")


def rank(variant):
    """The rule, the same for all: feasible at the end on more seeds, converged (strictly) on more, in fewer steps, with fewer
    updates over the limit, with more return."""
    steps = variant["convergence_strict"]["mean"]
    return (-variant["evaluation"]["feasible_runs"], -variant["convergence_strict"]["runs"],
            steps if steps is not None else float("inf"), variant["violations_whole"]["mean"],
            -variant["evaluation"]["return"]["mean"])


def judge(task, names, options):
    """The rows of a task's variants, from the program's own comparison."""
    table = run_json([options.program, "compare", task, "--algos", ",".join(names), "--seeds", str(options.seeds), "--first-seed",
                      str(options.first_seed), "--evaluate", str(options.evaluate), "--jobs", str(options.jobs), "--json", "--out",
                      str(options.out / task)])
    limits = [cost["limit"] for cost in table["costs"]]
    rows = []
    for variant in table["algorithms"]:
        if "evaluation" not in variant or variant["evaluation"]["return"]["mean"] is None:
            print(f"{task} {variant['name']}: no result", file=sys.stderr)
            continue
        rows.append({**{key: variant[key] for key in ("name", "algorithm", "evaluation", "convergence_strict", "violations_whole")},
                     "seeds": len(variant["runs"]), "steps": max(run["steps"] for run in variant["runs"]), "limits": limits})
    return rows


def choose(rows):
    for row in rows:
        row["chosen"] = False
    for algorithm in {row["algorithm"] for row in rows}:
        min((row for row in rows if row["algorithm"] == algorithm), key=rank)["chosen"] = True


def cells(row):
    evaluation, converged = row["evaluation"], row["convergence_strict"]
    costs = "; ".join(f"{cost['mean']:.5g} ({cost['worst']:.5g})" for cost in evaluation["costs"])
    steps = "—" if converged["mean"] is None else f"{converged['mean'] / 1e6:.2f}e6"
    settings = ", ".join(f"`{setting}`" for setting in row["name"].split(":")[1:])
    chosen = "**chosen**" if row["chosen"] else ""
    return [f"`{row['algorithm']}`", settings, f"{evaluation['return']['mean']:.5g} ({evaluation['return']['worst']:.5g})", costs,
            f"{evaluation['feasible_runs']} of {row['seeds']}", f"{100 * row['violations_whole']['mean']:.1f} %",
            f"{steps} ({converged['runs']} of {row['seeds']})", chosen]


def page_of(results):
    lines = ["# A search of equal size: the numbers", "",
             "Made by `experiments/search.py`, not by hand: every variant that was tried, the same number for every algorithm. Return and",
             "cost are those of the last policies on fresh episodes, mean (worst) over the seeds. One rule chooses: feasible at the end on",
             "more seeds, converged (strictly) on more, in fewer steps, with fewer updates over the limit by 1 %, with more return.", ""]
    for task, result in results.items():
        limits = ", ".join(f"{limit:.5g}" for limit in result["variants"][0]["limits"])
        lines += [f"## {task}, limit {limits}", "", f"Seeds {result['first_seed']} to {result['first_seed'] + result['seeds'] - 1}, "
                  f"{result['evaluate']} episodes each.", "",
                  "| algorithm | variant | return | cost | feasible | updates over | steps until converged | |",
                  "| --- | --- | --- | --- | --- | --- | --- | --- |"]
        lines += ["| " + " | ".join(cells(row)) + " |" for row in result["variants"]]
        lines.append("")
    return "\n".join(lines)


def merge(old, task, rows, options):
    """Other algorithms of an earlier call with the same seeds and episodes stay."""
    how = {"first_seed": options.first_seed, "seeds": options.seeds, "evaluate": options.evaluate}
    before = old.get(task, {})
    fresh = {row["algorithm"] for row in rows}
    if all(before.get(key) == value for key, value in how.items()):
        rows = [row for row in before["variants"] if row["algorithm"] not in fresh] + rows
    order = list(VARIANTS)
    rows.sort(key=lambda row: order.index(row["algorithm"]))
    choose(rows)
    return {**how, "variants": rows}


def write_whole(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".new")
    beside.write_text(text)
    os.replace(beside, path)


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build" / "bin" / "cgpo"))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("runs/search"), help="the folder of all runs (runs/search)")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time, with a thread each (1)")
    parser.add_argument("--tasks", default=",".join(TASKS), help=f"({','.join(TASKS)})")
    parser.add_argument("--algos", default=",".join(VARIANTS), help="(all of the table)")
    parser.add_argument("--seeds", type=int, default=3, help="how many (3)")
    parser.add_argument("--first-seed", type=int, default=0, help="the first of them (0)")
    parser.add_argument("--evaluate", type=int, default=2048, help="episodes that judge a last policy (2048)")
    parser.add_argument("--iterations", type=int, help="of every run, to try the script out; else as many as make equal steps")
    parser.add_argument("--page", type=pathlib.Path, default=PAGE, help=f"({PAGE.relative_to(ROOT)})")
    options = parser.parse_args()
    options.tasks, options.algos = options.tasks.split(","), options.algos.split(",")
    for algorithm in options.algos:
        if algorithm not in VARIANTS:
            parser.error(f"no variants of '{algorithm}'; there are: {', '.join(VARIANTS)}")
    if min(options.jobs, options.seeds, options.evaluate) < 1 or options.first_seed < 0:
        parser.error("--jobs, --seeds and --evaluate are 1 or more, --first-seed 0 or more")
    if options.first_seed + options.seeds > SEEDS_TO_CHOOSE:
        parser.error(f"seeds below {SEEDS_TO_CHOOSE} are for choosing, those from {FIRST_SEED_TO_PUBLISH} on for publishing")
    return options


def main():
    if len({len(factors) for _, factors in VARIANTS.values()}) != 1:
        sys.exit("VARIANTS: every algorithm must have the same number of values")
    options = read_options()
    names = {task: [entry_name(entry, options) for algorithm in options.algos for entry in entries_of(options.program, task, algorithm)]
             for task in options.tasks}
    work = [(task, name, seed) for task in options.tasks for name in names[task]
            for seed in range(options.first_seed, options.first_seed + options.seeds)]
    for task in options.tasks:
        begin_comparison(task, options.out / task)
    training = Training(options)
    training.train_all(work)
    store = options.out / "search.json"
    results = json.loads(store.read_text()) if store.exists() else {}
    for task in options.tasks:
        rows = judge(task, names[task], options)
        if rows:
            results[task] = merge(results, task, rows, options)
        write_whole(store, json.dumps(results, indent=1) + "\n")
    write_whole(options.page, page_of(results))
    for line in training.failed:
        print(line, file=sys.stderr)
    sys.exit(1 if training.failed else 0)


if __name__ == "__main__":
    main()
