"""Training from Python beside the command line: CPU time of the same run, one thread, in turn; the ratio of medians.

make python build
build/python/env/bin/python bench/python/training.py [TASK] [ITERATIONS]
"""

import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import cgpo

ROUNDS = 5
PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "build/bin/cgpo"


def of_program(task, iterations, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = [PROGRAM, "train", task, "--set", f"iterations={iterations}", "--out", folder, "--threads", "1"]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def of_package(task, iterations, folder):
    begin = time.process_time()
    with open(os.devnull, "w") as nothing:
        screen, sys.stderr = sys.stderr, nothing
        cgpo.train(task, iterations=iterations, out=folder, threads=1, callback=lambda line: None)
        sys.stderr = screen
    return time.process_time() - begin


def main():
    task = sys.argv[1] if len(sys.argv) > 1 else "halfcheetah"
    iterations = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    theirs, ours = [], []
    with tempfile.TemporaryDirectory() as scratch:
        for i in range(ROUNDS):
            theirs.append(of_program(task, iterations, f"{scratch}/program{i}"))
            ours.append(of_package(task, iterations, f"{scratch}/package{i}"))
    program, package = statistics.median(theirs), statistics.median(ours)
    print(f"{task}, {iterations} iterations, medians of {ROUNDS}: program {program:.2f} s, package {package:.2f} s")
    print(f"ratio {package / program:.3f}")


if __name__ == "__main__":
    main()
