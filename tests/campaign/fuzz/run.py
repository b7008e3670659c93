#!/usr/bin/env python3
"""Runs fuzz targets side by side and says what came of it.

    run.py --build build-fuzz --each 60 [--jobs N] [TARGET …]       every target for so many seconds
    run.py --build build-fuzz --seconds 1500 --jobs 16              all of them together in so many seconds, time shared by weight
    run.py --build build-fuzz --runs 5000 TARGET                    so many inputs from a fixed seed, the same ones each time
    run.py --build build-fuzz --bundle FOLDER                       what another machine needs to do all this: FOLDER/run.py

A target begins with the inputs of corpus/TARGET and found/TARGET, and goes on from what earlier calls of --each and --seconds
found, which is kept below the build folder. One that crashes is started again until its time is over. The exit code is 1 if one
did. Crashes inside MuJoCo are counted apart: no code of ours is in their way."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
# Share of the time, 1 unless said: the slower a target and the more behind it, the more.
WEIGHTS = {"mjcf": 3.0, "program": 2.0, "configuration": 2.0, "tensors": 1.5, "value": 1.5, "log": 1.5, "base64": 0.5, "text": 0.5}
LONGEST_INPUT = {"mjcf": 600, "program": 800, "subproblem": 400, "checkpoint": 200, "text": 400, "request": 9000}  # bytes; others: 4096
LIMITS = ["-rss_limit_mb=2048", "-timeout=10", "-print_final_stats=1"]
FAULT = re.compile(r"^(?:==\d+==ERROR: )?(.*(?:ERROR: |runtime error|broken rule|wants to start|terminate called|deadly signal).*)$", re.M)


def options_of(name, work):
    flags = LIMITS + [f"-max_len={LONGEST_INPUT.get(name, 4096)}", f"-artifact_prefix={work / 'crashes' / name}-"]
    words = HERE / "dictionaries" / f"{name}.dict"
    return flags + ([f"-dict={words}"] if words.exists() else [])


def seeds_of(name):
    return [str(folder) for folder in (HERE / "corpus" / name, HERE / "found" / name) if folder.is_dir()]


def number(text, name, kind=int):
    found = re.findall(rf"stat::{name}: *([\d.]+)", text)
    return kind(found[-1]) if found else kind(0)


def run(words, work, environment):
    """What it wrote on standard error, its exit code, and the seconds of CPU that it took."""
    with open(os.devnull, "wb") as nothing:
        process = subprocess.Popen(words, stdout=nothing, stderr=subprocess.PIPE, cwd=work, env=environment)
    text = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    return text, process.returncode, usage.ru_utime + usage.ru_stime


class Tally:
    """What the processes of one target did, summed."""

    def __init__(self, name):
        self.row = {"target": name, "executions": 0, "seconds": 0.0, "crashes": 0, "in_mujoco": 0, "mujoco_hangs": 0,
                    "slowest_s": 0, "peak_mb": 0, "faults": []}

    def add(self, text, code, seconds):
        row = self.row
        row["executions"] += number(text, "number_of_executed_units")
        row["seconds"] += seconds
        row["slowest_s"] = max(row["slowest_s"], number(text, "slowest_unit_time_sec"))
        row["peak_mb"] = max(row["peak_mb"], number(text, "peak_rss_mb"))
        row["in_mujoco"] += number(text, "mujoco_crashes")
        row["mujoco_hangs"] += number(text, "mujoco_hangs")
        if code == 0:
            return True
        # The first frame that has a name of ours or of MuJoCo's tells whose fault it is.
        frames = re.findall(r"^ *#\d+ 0x\w+ +(?:in )?(.*)$", text, re.M)
        ours = next((frame for frame in frames if "cgpo" in frame or "libmujoco" in frame or "targets/" in frame), "")
        if "libmujoco" in ours:
            row["in_mujoco"] += 1
            return True
        row["crashes"] += 1
        found = FAULT.search(text)
        fault = found.group(1) if found else f"exit code {code}"
        where = next((frame for frame in frames if "/src/" in frame or "targets/" in frame), "")
        artifact = re.search(r"Test unit written to (\S+)", text)
        row["faults"].append(f"{fault} {where} {artifact.group(1) if artifact else ''}".strip())
        return False


def run_piece(name, work, binary, seconds, seed, environment):
    """One process after the other until the time is over; the texts they wrote."""
    corpus = work / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    ended = time.monotonic() + seconds
    outcomes = []
    while (left := ended - time.monotonic()) > 0.5 or not outcomes:
        outcomes.append(run([str(binary), *options_of(name, work), f"-max_total_time={max(1, round(left))}", f"-seed={seed}",
                             str(corpus), *seeds_of(name)], work, environment))
        seed += 1000
        if outcomes[-1][1] == 0:
            break
    return outcomes


def run_fixed(name, work, binary, runs, environment):
    """The same inputs each time: all seeds, then those that a fixed random sequence makes of them."""
    corpus = work / "fixed" / name
    shutil.rmtree(corpus, ignore_errors=True)
    corpus.mkdir(parents=True)
    files = sorted(str(path) for folder in seeds_of(name) for path in pathlib.Path(folder).iterdir())  # whole, however long
    outcomes = []
    for inputs in ([f"-runs={runs}", "-seed=1", str(corpus), *seeds_of(name)], files):
        if not inputs:
            continue
        outcomes.append(run([str(binary), *options_of(name, work), *inputs], work, environment))
        if outcomes[-1][1] != 0:
            print(outcomes[-1][0][-8000:])
    return outcomes


def plan(names, options):
    """(target, seconds) for every process: time by weight, in pieces that keep all jobs busy to the end."""
    if options.each:
        return [(name, options.each) for name in names]
    weights = {name: WEIGHTS.get(name, 1.0) for name in names}
    unit = options.seconds * options.jobs / sum(weights.values())
    longest = options.seconds / 4
    pieces = []
    for name in names:
        share = unit * weights[name]
        count = max(1, -(-share // longest))
        pieces += [(name, share / count)] * int(count)
    return sorted(pieces, key=lambda piece: -piece[1])


def bundle(names, build, folder):
    """Programs without symbols (a crash is looked at where they were built), the libraries that are not everywhere, seeds, and this file."""
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    (folder / "lib").mkdir(exist_ok=True)
    everywhere = re.compile(r"lib(c|m|gcc_s|dl|rt|pthread|resolv)\.so|ld-linux|linux-vdso")
    for name in names:
        target = folder / "bin" / f"fuzz_{name}"
        shutil.copy(build / "bin" / f"fuzz_{name}", target)
        subprocess.run(["strip", str(target)], check=True)
        for library in re.findall(r"=> (\S+)", subprocess.run(["ldd", str(target)], capture_output=True, text=True).stdout):
            if not everywhere.search(library):
                shutil.copy(library, folder / "lib")
    for part in ("corpus", "found", "dictionaries"):
        if (HERE / part).is_dir():
            shutil.copytree(HERE / part, folder / part, dirs_exist_ok=True)
    shutil.copy(__file__, folder / "run.py")


def table(rows):
    total = {"target": "all", **{key: sum(row[key] for row in rows) for key in ("executions", "seconds", "crashes", "in_mujoco")},
             **{key: max(row[key] for row in rows) for key in ("slowest_s", "peak_mb")}}
    lines = [f"{'target':<14}{'executions':>13}{'cpu s':>8}{'a second':>10}{'crashes':>9}{'in MuJoCo':>11}{'slowest s':>11}{'peak MB':>9}"]
    for row in [*rows, total]:
        rate = row["executions"] / max(row["seconds"], 1e-9)
        lines.append(f"{row['target']:<14}{row['executions']:>13,}{row['seconds']:>8.0f}{rate:>10,.0f}{row['crashes']:>9}"
                     f"{row['in_mujoco']:>11}{row['slowest_s']:>11}{row['peak_mb']:>9}")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(HERE), help="the build folder, or the bundle (this file's folder)")
    parser.add_argument("--work", help="where corpora, crashes and results are kept (BUILD/fuzz)")
    parser.add_argument("--each", type=float)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--runs", type=int)
    parser.add_argument("--bundle")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--json", help="write the table there, too")
    parser.add_argument("targets", nargs="*")
    options = parser.parse_args()
    build = pathlib.Path(options.build).resolve()
    known = sorted(path.name.removeprefix("fuzz_") for path in (build / "bin").glob("fuzz_*"))
    names = options.targets or known
    if unknown := [name for name in names if name not in known]:
        print(f"run.py: there is no target {unknown[0]}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    if options.bundle:
        bundle(names, build, pathlib.Path(options.bundle))
        return 0
    work = pathlib.Path(options.work).resolve() if options.work else build / "fuzz"
    (work / "crashes").mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ)
    if (build / "lib").is_dir():
        environment["LD_LIBRARY_PATH"] = str(build / "lib")

    tallies = {name: Tally(name) for name in names}
    good = True
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        binary = {name: build / "bin" / f"fuzz_{name}" for name in names}
        if options.runs:
            waiting = {pool.submit(run_fixed, name, work, binary[name], options.runs, environment): name for name in names}
        else:
            if not options.each and not options.seconds:
                parser.error("say --each, --seconds, --runs or --bundle")
            waiting = {pool.submit(run_piece, name, work, binary[name], seconds, number + 1, environment): name
                       for number, (name, seconds) in enumerate(plan(names, options))}
        for future in concurrent.futures.as_completed(waiting):
            for text, code, seconds in future.result():
                good &= tallies[waiting[future]].add(text, code, seconds)
            rows = [tallies[name].row for name in names]
            if options.json:  # so far, in case that it is ended before its time
                pathlib.Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
    print(table(rows))
    for row in rows:
        for fault in row["faults"]:
            print(f"{row['target']}: {fault}")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
