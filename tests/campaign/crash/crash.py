#!/usr/bin/env python3
"""Kills the program at the calls of a run's life, goes on as a user would, and compares bits with a run left alone.

    crash.py --program cgpo --supervisor cgpo_supervisor [--calls all|every:20] [--moments 1000] [--seed 0] [--jobs N]

`--calls` takes each life in turn (a new run, one with threads, one with data files, a resumed one, one replaced by --force,
…) and kills it before each of its file-system calls and after half of each write. What a kill between two of these leaves on
the disk is what a kill before the later one leaves, so with `all` there is no other moment. `--moments` kills at random system
calls of any kind, and what resumes up to three times more. Then --resume continues; where there is nothing to resume, the
first command starts again; on a copy, --force replaces. Exit code 1 if a bit differs, more than an iteration is lost, nothing
takes the folder, or --force has lost both runs; or if the order of the calls would let a loss of power do what a kill cannot."""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "common")]
import runs  # noqa: E402
import order  # noqa: E402
from continuing import Failed, Reference, go_on  # noqa: E402

def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    runs.Tools.add_arguments(parser, "program", "supervisor")
    parser.add_argument("--simulator", help="the command of an external simulator, for one more life")
    parser.add_argument("--calls", default="every:20", help="all, every:N or none")
    parser.add_argument("--moments", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--lives", help="only these")
    parser.add_argument("--json", help="the results as a file")
    parser.add_argument("--keep", help="a folder for the remains of what failed")
    return parser.parse_args()


class Campaign:
    def __init__(self, options, scratch):
        self.options, self.scratch = options, scratch
        self.tools = runs.Tools.of(options)
        self.lives = runs.make_lives(self.tools, scratch / "templates")
        if options.lives:
            self.lives = [life for life in self.lives if life.name in options.lives.split(",")]
        self.references = {life.name: Reference(self.tools, life, scratch / "references" / life.name)
                           for life in self.lives}
        self.lock = threading.Lock()
        self.counts = collections.defaultdict(collections.Counter)
        self.failures = []

    def check_order(self):
        for life in self.lives:
            reference = self.references[life.name]
            for fault in order.find_faults(reference.listed, self.scratch / "references" / life.name):
                self.failures.append(f"{life.name}, a loss of power: {fault}")

    def trial(self, number, life, rng, kills, describe):
        """One life with its kills, each a (kinds, call, action) or a function that draws one."""
        reference = self.references[life.name]
        scratch = self.scratch / f"trial-{number}"
        run = life.set_up(scratch)
        words, done, where = life.words, 0, ""
        try:
            for kinds, at, action in kills:
                outcome = runs.call(self.tools, words, scratch, kinds=kinds, at=at, do=action)
                if outcome.left:
                    raise Failed("processes are left over")
                if outcome.code != -signal.SIGKILL:
                    if outcome.code not in (0, 2) or (outcome.code == 2 and not outcome.sentence()):
                        raise Failed(f"before the kill: {outcome.ending()}")
                    break  # it had ended, or there is nothing to resume
                done += 1
                where = f"{action} at call {at} ({outcome.report.get('hit', '')})"
                words = life.again
            with_force = self.options.calls == "all" or rng.random() < 0.25
            way = go_on(self.tools, life, reference, scratch, with_force)
            with self.lock:
                self.counts[life.name]["killed"] += done
                self.counts[life.name][way] += 1
            shutil.rmtree(scratch)
        except Failed as failure:
            with self.lock:
                self.counts[life.name]["killed"] += done
                self.counts[life.name]["failed"] += 1
                self.failures.append(f"{life.name}, {describe}, {where.replace(str(scratch) + '/', '')}: {failure}")
            if self.options.keep:
                shutil.move(scratch, pathlib.Path(self.options.keep) / f"{life.name}-{number}")
            else:
                shutil.rmtree(scratch, ignore_errors=True)
        return done

    def call_trials(self):
        if self.options.calls == "none":
            return
        step = 1 if self.options.calls == "all" else int(self.options.calls.removeprefix("every:"))
        rng = random.Random(self.options.seed)
        for life in self.lives:
            listed = self.references[life.name].listed
            first = 1 if step == 1 else rng.randint(1, step)
            for at in range(first, len(listed) + 1, step):
                yield life, rng.getrandbits(64), [("files", at, "kill")], "call"
            writes = [at for at, line in enumerate(listed, 1) if line.startswith(("write", "pwrite"))]
            for at in writes[::step] if step == 1 else writes[rng.randrange(min(step, len(writes) or 1))::step]:
                yield life, rng.getrandbits(64), [("files", at, "half")], "half"

    def moment_trials(self):
        """Chains of kills, as many in all as were asked for or a few more, since some kills come too late."""
        rng = random.Random(self.options.seed + 1)
        while True:
            life = rng.choice(self.lives)
            reference = self.references[life.name]
            kills = [("all", rng.randint(1, reference.all), "kill") for _ in range(rng.randint(1, 4))]
            yield life, rng.getrandbits(64), kills, "moment"

    def run(self):
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            def submit(number, trial):
                life, seed, kills, describe = trial
                return pool.submit(self.trial, number, life, random.Random(seed), kills, describe)

            calls = [submit(number, trial) for number, trial in enumerate(self.call_trials())]
            done_calls = sum(future.result() for future in calls)
            moments, number = 0, len(calls)
            source = self.moment_trials()
            while moments < self.options.moments:
                count = min(64, (self.options.moments - moments) // 3 + 1)  # a trial kills up to four times
                batch = [submit(number + i, next(source)) for i in range(count)]
                number += len(batch)
                moments += sum(future.result() for future in batch)
        return done_calls, moments


def print_table(campaign):
    ways = ["killed", "resumed", "anew", "forced", "kept", "failed"]
    rows = [["life", "file calls", *ways]]
    for life in campaign.lives:
        counts = campaign.counts[life.name]
        rows.append([life.name, campaign.references[life.name].files, *(counts[way] for way in ways)])
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(str(cell).ljust(width) if i == 0 else str(cell).rjust(width)
                        for i, (cell, width) in enumerate(zip(row, widths))))


def main():
    options = arguments()
    begin = time.monotonic()
    if options.keep:
        pathlib.Path(options.keep).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="cgpo-crash-") as scratch:
        campaign = Campaign(options, pathlib.Path(scratch))
        campaign.check_order()
        calls, moments = campaign.run()
    print_table(campaign)
    for failure in campaign.failures[:40]:
        print(failure)
    print(f"{calls} kills at file-system calls, {moments} at random ones (seed {options.seed}): "
          f"{len(campaign.failures)} failures; {time.monotonic() - begin:.0f} s with {options.jobs} jobs")
    if options.json:
        result = {"calls": calls, "moments": moments, "seed": options.seed, "failures": campaign.failures,
                  "lives": {name: dict(counts) for name, counts in campaign.counts.items()}}
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1))
    if calls + moments == 0:
        print("nothing was killed: this tested nothing")
        return 1
    return 1 if campaign.failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
