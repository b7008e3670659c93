#!/usr/bin/env python3
"""Where the time of a clean build went: seconds of one core for each folder of src/, from the log that Ninja keeps.

    rm -rf build && make build && scripts/build_times.py [build]        (nothing else running)"""
import collections
import pathlib
import sys

log = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build") / ".ninja_log"
seconds, files = collections.Counter(), collections.Counter()
for line in log.read_text().splitlines()[1:]:
    begin, end, _, output, _ = line.split("\t")
    parts = output.split("/")
    if parts[0] == "src" and output.endswith(".o"):
        seconds[parts[1]] += (int(end) - int(begin)) / 1000
        files[parts[1]] += 1
print("| folder | compiler runs | seconds |\n| --- | --- | --- |")
for folder, spent in seconds.most_common():
    print(f"| `{folder}` | {files[folder]} | {spent:.0f} |")
print(f"| all | {sum(files.values())} | {sum(seconds.values()):.0f} |")
