#!/usr/bin/env python3
"""Makes one call of the program fail at a time: a file operation, an allocation, a fork, a thread, memory from the system; sends
it signals; closes its output; gives it folders that are no runs.

    faults.py --program cgpo --supervisor cgpo_supervisor --allocations libcgpo_allocations.so [--sample N|all] [--jobs N]
              [--groups files,full,…]

Whatever fails, the program ends with exit code 2 and one line that says why, or with a finished run whose bits are right;
never in a signal, a hang, an internal error or with a process left over. Afterwards, with nothing failing, the run can be
continued to the same bits. `--sample N` takes about N of each group's places, `all` takes every one."""
import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
import runs  # noqa: E402
from continuing import Failed, Reference, go_on  # noqa: E402


@dataclasses.dataclass
class Group:
    """One kind of fault: for each life, the places where it may strike."""
    name: str
    lives: str
    kinds: str
    action: str


# What changes files fails as a full or a broken disk does; what only looks, as a broken one.
GROUPS = [
    Group("broken", "new,data,extend,resume,force,report", "changes", "fail=EIO"),
    Group("full", "new,data,extend,force,report", "changes", "fail=ENOSPC"),
    Group("stays-full", "new,data,force", "changes", "fail-on=ENOSPC"),
    Group("short", "new,data", "changes", "short"),
    Group("unreadable", "new,data,extend,resume,force,report,eval", "looks", "fail=EIO"),
    Group("no-files", "new,resume,external", "opens", "fail-on=EMFILE"),
    Group("no-process", "external,compare", "processes", "fail=EAGAIN"),
    Group("no-thread", "threads", "threads", "fail=EAGAIN"),
    Group("no-memory", "new,threads,resume", "memory", "fail=ENOMEM"),
    Group("no-output", "new,resume", "output", "fail=EIO"),
    Group("allocation", "new,data,threads,resume,report,eval", "allocations", ""),
    Group("large", "new,data", "allocations", "4096"),  # those of so many bytes and more, from one on
    Group("hangup", "new,data,force", "all", f"signal={int(signal.SIGHUP)}"),
    Group("terminate", "new,data,force", "all", f"signal={int(signal.SIGTERM)}"),
    Group("terminate-on", "new", "all", f"signal-on={int(signal.SIGTERM)}"),
]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    runs.Tools.add_arguments(parser, "program", "supervisor", "allocations")
    parser.add_argument("--simulator", help="the command of an external simulator, for one more life")
    parser.add_argument("--sample", default="6", help="places of each group and life, or all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--groups", help="only these")
    parser.add_argument("--json", help="the results as a file")
    return parser.parse_args()


def allocation_plan(group, at=0, report=""):
    plan = {"CGPO_FAIL_ALLOCATION": str(at), "CGPO_ALLOCATION_REPORT": str(report)}
    if group.action:
        plan.update(CGPO_FAIL_ALLOCATION_LEAST=group.action, CGPO_FAIL_ALLOCATIONS_ON="1")
    return plan


def one_run_failed(outcome):
    """A comparison goes on with its other runs, and says so of the one."""
    return outcome.code == 1 and outcome.err.count(": failed: ") == 1 and "internal error" not in outcome.err


class Campaign:
    def __init__(self, options, scratch):
        self.options, self.scratch = options, scratch
        self.tools = runs.Tools.of(options)
        lives = runs.make_lives(self.tools, scratch / "templates")
        self.lives = {life.name: life for life in lives}
        self.groups = [group for group in GROUPS if not options.groups or group.name in options.groups.split(",")]
        self.references = {life.name: Reference(self.tools, life, scratch / "references" / life.name) for life in lives}
        self.lock = threading.Lock()
        self.counts = collections.defaultdict(collections.Counter)
        self.failures = []

    def places(self, group, life):
        """How many there are."""
        scratch = self.scratch / "count"
        life.set_up(scratch)
        if group.kinds == "allocations":
            report = scratch / ".allocations"
            runs.call(self.tools, life.words, scratch, allocation=allocation_plan(group, report=report))
            return int(report.read_text())
        return runs.call(self.tools, life.words, scratch, kinds=group.kinds, do="count").report[group.kinds]

    def strike(self, group, life, at, scratch):
        if group.kinds == "allocations":
            return runs.call(self.tools, life.words, scratch, allocation=allocation_plan(group, at))
        return runs.call(self.tools, life.words, scratch, kinds=group.kinds, at=at, do=group.action)

    def judge(self, group, life, outcome, scratch):
        """Returns how it ended; raises if that, or what became of the run, is wrong."""
        reference = self.references[life.name]
        lines = runs.lines_of(scratch / "run")
        if outcome.left:
            raise Failed("processes are left over")
        if outcome.code == 0:
            found = runs.bits(scratch / "run")
            different = runs.difference(found, reference.bits)
            if different == "report.html differs" and b"cannot read" in found["report.html"]:
                return "said"  # on the page: what can be read is shown
            if different and "best.safetensors" in different and "it is kept beside" in outcome.err:
                return "said"  # a best policy that cannot be read is put aside, and that is noted
            if different:
                raise Failed(f"ends well, but {different}")
            if life.name == "eval" and outcome.out != reference.out:
                raise Failed("ends well, but says something else")
            return "done"
        if group.action.startswith("signal"):
            number = int(group.action.partition("=")[2])
            # Before it trains, after that and at a second one it ends at once; else after an iteration, with its checkpoint.
            trained = not runs.difference(runs.bits(scratch / "run"), reference.bits) if lines > 0 else False
            at_once = outcome.code == -number and (lines == 0 or group.action.startswith("signal-on") or life.old or trained)
            if outcome.code != 128 + number and not at_once:
                raise Failed(outcome.ending())
            way = "stopped"
        elif outcome.sentence() or (life.name == "compare" and one_run_failed(outcome)):
            way = "said"
        else:
            raise Failed(outcome.ending())
        go_on(self.tools, life, reference, scratch, with_force=False)
        return way

    def trial(self, number, group, life, at):
        scratch = self.scratch / f"trial-{number}"
        life.set_up(scratch)
        outcome = self.strike(group, life, at, scratch)
        try:
            way, failure = self.judge(group, life, outcome, scratch), None
        except Failed as problem:
            way, failure = "failed", problem
        where = outcome.report.get("hit", "").replace(str(scratch) + "/", "")
        with self.lock:
            self.counts[group.name][way] += 1
            if failure:
                self.failures.append(f"{group.name}, {life.name}, place {at} ({where}): {failure}")
        shutil.rmtree(scratch, ignore_errors=True)

    def trials(self):
        rng = random.Random(self.options.seed)
        for group in self.groups:
            for name in group.lives.split(","):
                if name not in self.lives:
                    continue
                count = self.places(group, self.lives[name])
                places = range(1, count + 1)
                if self.options.sample != "all" and count > int(self.options.sample):
                    places = sorted(rng.sample(places, int(self.options.sample)))
                for at in places:
                    yield group, self.lives[name], at

    def run(self):
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            futures = [pool.submit(self.trial, number, *trial) for number, trial in enumerate(self.trials())]
            odd = [pool.submit(self.odd_trial, name, *trial) for name, trial in odd_trials(self).items()]
            for future in futures + odd:
                future.result()

    def odd_trial(self, name, group, function):
        scratch = self.scratch / f"odd-{name}"
        scratch.mkdir()
        try:
            way, failure = function(self, scratch), None
        except Failed as problem:
            way, failure = "failed", problem
        with self.lock:
            self.counts[group][way] += 1
            if failure:
                self.failures.append(f"{group}, {name}: {failure}")
        shutil.rmtree(scratch, ignore_errors=True)


def limited(which, amount):
    def call(campaign, scratch):
        life = campaign.lives["new"]
        life.set_up(scratch)
        outcome = runs.call(campaign.tools, life.words, scratch,
                            before=lambda: resource.setrlimit(which, (amount, amount)))
        return campaign.judge(Group("", "", "", ""), life, outcome, scratch)
    return call


def closed_output(campaign, scratch):
    """As `train | head -1` after the first line: nobody reads any more."""
    life = campaign.lives["new"]
    life.set_up(scratch)
    reader, writer = os.pipe()
    os.close(reader)

    def before():
        os.dup2(writer, 1)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and children would, too
    try:
        outcome = runs.call(campaign.tools, life.words, scratch, before=before)
    finally:
        os.close(writer)
    if outcome.code == -signal.SIGPIPE:
        raise Failed("ended at once by SIGPIPE")
    return campaign.judge(Group("", "", "", f"signal={int(signal.SIGPIPE)}"), life, outcome, scratch)


def put(path, what):
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    if what == "folder":
        path.mkdir()
    elif what == "loop":
        path.symlink_to(path.name)
    elif what == "empty":
        path.write_bytes(b"")
    elif what == "nonsense":
        path.write_bytes(bytes(range(256)) * 8)


def misplaced(file, what, words):
    """Something else in a file's place: one sentence, or the right thing done."""
    def call(campaign, scratch):
        shutil.copytree(campaign.lives["force"].prepare, scratch, dirs_exist_ok=True)
        put(scratch / "run" / file, what)
        outcome = runs.call(campaign.tools, words, scratch)
        if outcome.code == 0:
            return "done"
        if not outcome.sentence():
            raise Failed(outcome.ending())
        return "said"
    return call


def odd_trials(campaign):
    found = {}
    wanted = campaign.options.groups.split(",") if campaign.options.groups else ["limits", "closed", "misplaced"]
    if "limits" in wanted:
        for size in (200, 1000, 3000, 10000, 100000):  # below, not even a sentence fits
            found[f"file-size-{size}"] = ("limits", limited(resource.RLIMIT_FSIZE, size))
        for count in range(4, 9):
            found[f"descriptors-{count}"] = ("limits", limited(resource.RLIMIT_NOFILE, count))
    if "closed" in wanted:
        found["output"] = ("closed", closed_output)
    if "misplaced" in wanted:
        ways = {"resume": runs.resume(iterations=6), "eval": ["eval", "run", "--episodes", "4"],
                "report": ["report", "run"], "force": campaign.lives["force"].words}
        for file in ("config.toml", "log.jsonl", "timing.jsonl", "checkpoint.safetensors", "best.safetensors",
                     "snapshots", "version", ".lock", "data"):
            for what in ("folder", "loop", "empty", "nonsense"):
                for way, words in ways.items():
                    found[f"{file}-{what}-{way}"] = ("misplaced", misplaced(file, what, words))
    if campaign.options.sample != "all":
        rng = random.Random(campaign.options.seed)
        some = set(rng.sample(sorted(name for name in found if found[name][0] == "misplaced"),
                              min(30, sum(entry[0] == "misplaced" for entry in found.values()))))
        found = {name: entry for name, entry in found.items() if entry[0] != "misplaced" or name in some}
    return found


def print_table(campaign):
    ways = ["done", "said", "stopped", "failed"]
    print(f"{'fault':14}" + "".join(f"{way:>9}" for way in ways))
    for name, counts in campaign.counts.items():
        print(f"{name:14}" + "".join(f"{counts[way]:>9}" for way in ways))


def main():
    options = arguments()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="cgpo-faults-") as scratch:
        campaign = Campaign(options, pathlib.Path(scratch))
        campaign.run()
    print_table(campaign)
    for failure in campaign.failures[:60]:
        print(failure)
    total = sum(sum(counts.values()) for counts in campaign.counts.values())
    print(f"{total} faults (seed {options.seed}): {len(campaign.failures)} failures; "
          f"{time.monotonic() - begin:.0f} s with {options.jobs} jobs")
    if options.json:
        result = {"faults": {name: dict(counts) for name, counts in campaign.counts.items()},
                  "failures": campaign.failures, "seed": options.seed}
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1))
    if total == 0:
        print("nothing failed: this tested nothing")
        return 1
    return 1 if campaign.failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
