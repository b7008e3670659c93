#!/usr/bin/env python3
"""Runs clang-tidy over every source of a build folder that was configured with the preset `lint`.

    scripts/lint.py BUILD [--jobs N] [--quick]

Sources are joined there, several to one file, so that a header is read once for all of them. --quick leaves out
clang-analyzer-*, which follows paths through functions and takes most of the time. Exit code 1 if anything is found."""
import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys

# What joins sources includes them by their names.
LEFT_OUT = ["-bugprone-suspicious-include"]
# What is no part of the program has sizes of its own choice, and they are small.
LEFT_OUT_BESIDES = ["-bugprone-implicit-widening-of-multiplication-result", "-bugprone-misplaced-widening-cast"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    build = pathlib.Path(options.build).resolve()
    project = pathlib.Path(__file__).resolve().parent.parent
    left_out = LEFT_OUT + (["-clang-analyzer-*"] if options.quick else [])
    commands = json.loads((build / "compile_commands.json").read_text())
    # One instruction set of a source that is compiled for several is enough.
    sources = sorted({command["file"] for command in commands
                      if not re.search(r"_(avx2|avx512)\.dir/", command["command"])})

    def run(source):
        program = any(pathlib.Path(source).is_relative_to(root / folder)
                      for root in (build, project) for folder in ("src", "apps"))
        checks = ",".join(left_out + ([] if program else LEFT_OUT_BESIDES))
        done = subprocess.run(["clang-tidy", "-quiet", "-p", str(build), f"--checks={checks}", source], capture_output=True, text=True)
        return source, done

    found = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for number, (source, done) in enumerate(pool.map(run, sources), 1):
            if done.returncode != 0:
                found += 1
                print(done.stdout + done.stderr)
            if sys.stderr.isatty():
                print(f"\r{number}/{len(sources)}", end="", file=sys.stderr)
    print(f"lint: {len(sources)} files, {found} with findings")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
