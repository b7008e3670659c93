"""What it takes to have the package: import, size of the wheel, and `pip install .` of a checkout, everything compiled.

The last takes minutes, and needs a package index; INSTALL=no leaves it out.
"""

import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import table

ROUNDS = 10


def import_seconds(what):
    code = f"import time; begin = time.perf_counter(); import {what}; print(time.perf_counter() - begin)"
    return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)


def install_seconds():
    """By the clock and of the processor, in a fresh environment, without a compiler cache, of the files that git knows."""
    with tempfile.TemporaryDirectory() as scratch:
        checkout, fresh = pathlib.Path(scratch, "checkout"), pathlib.Path(scratch, "env")
        checkout.mkdir()
        archive = subprocess.run(["git", "-C", table.ROOT, "archive", "HEAD"], check=True, capture_output=True).stdout
        subprocess.run(["tar", "x", "-C", checkout], input=archive, check=True)
        subprocess.run([sys.executable, "-m", "venv", fresh], check=True)
        plain = {name: value for name, value in os.environ.items() if not name.startswith("CMAKE_")}
        begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([fresh / "bin/pip", "install", "--quiet", "."], cwd=checkout, check=True, env=plain)
        seconds, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        work = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        subprocess.run([fresh / "bin/cgpo", "--version"], check=True, stdout=subprocess.DEVNULL)
        return seconds, work


def measure():
    package, numpy = table.in_turns(ROUNDS, lambda: import_seconds("cgpo"), lambda: import_seconds("numpy"))
    what = "`import cgpo`, seconds; beside it NumPy, which is part of it"
    rows = [table.Row(what, f"{package:.3f}", f"{numpy:.3f}", None, "≤ 0.3", package <= 0.3)]
    for wheel in (table.ROOT / "build/wheels").glob("*.whl"):
        size = wheel.stat().st_size / 1e6
        rows.append(table.Row("the wheel, MB", f"{size:.1f}", "", None, "≤ 15", size <= 15))
    if os.environ.get("INSTALL") != "no":
        seconds, work = install_seconds()
        what = f"`pip install .` of a checkout, downloads included, seconds; {work:.0f} of processor time"
        rows.append(table.Row(what, f"{seconds:.0f}", "", None, "≤ 240", seconds <= 240))
    return rows


if __name__ == "__main__":
    table.show(measure())
