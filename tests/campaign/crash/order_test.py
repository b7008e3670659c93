#!/usr/bin/env python3
"""order.py on calls in good and in bad order."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import order  # noqa: E402

MADE = ["mkdir run", "fsync /w"]
GOOD = ["openat run/.a.tmp", "write /w/run/.a.tmp", "fsync /w/run/.a.tmp", "rename run/.a.tmp run/a", "fsync /w/run"]


def main():
    cases = [
        ("good order", MADE + GOOD + ["unlink run/old"], 0),
        ("content after the name", MADE + [GOOD[1], *GOOD[3:]], 1),
        ("name never synced", MADE + GOOD[:4], 1),
        ("old removed too early", MADE + GOOD[:4] + ["unlink run/old"] + GOOD[4:], 1),
        ("a temporary file is removed", MADE + GOOD[:2] + ["unlink run/.a.tmp", "fsync /w/run/.a.tmp"], 0),
        ("log never synced", MADE + ["write /w/run/log"], 1),
        ("folder's name never synced", MADE[:1] + GOOD, 1),
        ("elsewhere", ["write /etc/x", "rename /tmp/a /tmp/b"], 0),
    ]
    for name, calls, wanted in cases:
        found = order.find_faults(calls, "/w")
        assert len(found) == wanted, (name, found)
    print("order is understood")


if __name__ == "__main__":
    main()
