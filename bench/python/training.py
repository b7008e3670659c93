"""Training from Python beside the command line: processor time of the same run on one thread."""

import os
import resource
import subprocess
import sys
import tempfile
import time

import cgpo
import table

ROUNDS = 9
PROGRAM = table.ROOT / "build/bin/cgpo"


def of_program(task, iterations):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        words = [PROGRAM, "train", task, "--set", f"iterations={iterations}", "--out", folder, "--threads", "1"]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def of_package(task, iterations, settings=None):
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as nothing:
        begin = time.process_time()
        screen, sys.stderr = sys.stderr, nothing
        run = cgpo.train(
            task, iterations=iterations, out=folder, threads=1, callback=lambda line: None, settings=settings
        )
        sys.stderr = screen
        seconds = time.process_time() - begin
        of_package.last = run.log["return"][-1], run.configuration
    return seconds


def measure(task="halfcheetah", iterations=60):
    program, package = table.in_turns(
        ROUNDS, lambda: of_program(task, iterations), lambda: of_package(task, iterations)
    )
    ratio = package / program
    return [
        table.Row(
            f"`cgpo.train(\"{task}\", iterations={iterations})` beside the command line, processor seconds",
            f"{package:.2f}", f"{program:.2f}", ratio, "≤ 1.02", ratio <= 1.02,
        )
    ]  # fmt: skip


if __name__ == "__main__":
    table.show(measure())
