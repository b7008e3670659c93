#!/usr/bin/env python3
"""Do two builds of the program train the same bits? Every task with every algorithm, a few iterations each.

    scripts/same_bits.py OLD NEW [--iterations N] [--jobs N] [--tasks a,b] [--algos a,b]

Compares log.jsonl (without `seconds`) and checkpoint.safetensors (its tensors, not what it says of its writer). What either
program refuses, both must refuse. Exit code 1 if anything differs."""
import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import tempfile

SMALL = ["environments=16"]  # batches small enough for a whole table in minutes


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--iterations", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tasks")
    parser.add_argument("--algos")
    return parser.parse_args()


def listed(program, command, asked):
    if asked:
        return asked.split(",")
    output = subprocess.run([program, command, "--json"], capture_output=True, check=True, text=True).stdout
    return [entry["name"] for entry in json.loads(output)[command]]


def tensors(path):
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    return header, data[8 + length:]


def train(program, task, algorithm, iterations, folder):
    """What a run leaves: its log without the clock and its tensors, or the exit code it was refused with."""
    words = [program, "train", task, "--algo", algorithm, "--out", str(folder), "--threads", "1"]
    for setting in SMALL + [f"iterations={iterations}"]:
        words += ["--set", setting]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        return {"exit": done.returncode}
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    for line in lines:
        line.pop("seconds")
    header, bytes_ = tensors(folder / "checkpoint.safetensors")
    return {"log": lines, "header": header, "bytes": bytes_}


def compare(options, task, algorithm, scratch):
    old = train(options.old, task, algorithm, options.iterations, scratch / f"old-{task}-{algorithm}")
    new = train(options.new, task, algorithm, options.iterations, scratch / f"new-{task}-{algorithm}")
    if "exit" in old or "exit" in new:
        return "refused by both" if old == new else f"DIFFERS: exit codes {old.get('exit', 0)} and {new.get('exit', 0)}"
    wrong = [part for part in old if old[part] != new[part]]
    return "same" if not wrong else "DIFFERS: " + ", ".join(wrong)


def main():
    options = arguments()
    options.old, options.new = (str(pathlib.Path(program).resolve()) for program in (options.old, options.new))
    pairs = [(task, algorithm) for task in listed(options.old, "tasks", options.tasks)
             for algorithm in listed(options.old, "algorithms", options.algos)]
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda pair: compare(options, *pair, pathlib.Path(scratch)), pairs))
    for (task, algorithm), result in zip(pairs, results):
        if result != "same":
            print(f"{task} {algorithm}: {result}")
    counts = {word: sum(result.startswith(word) for result in results) for word in ("same", "refused", "DIFFERS")}
    print(f"{counts['same']} of {len(pairs)} pairs the same, {counts['refused']} refused by both, {counts['DIFFERS']} differ")
    return 1 if counts["DIFFERS"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
