#!/usr/bin/env python3
"""Trains for hours, is killed and resumed over and over, and watches what could grow.

    soak.py --program cgpo --simulator COMMAND [--hours 1] [--json FILE]

Three things go on at once. One process trains all the time and serves a live view that is polled; another trains all the time
on a simulator that is a program of its own; in both, resident memory, descriptors, threads and children must stay. Beside
them small runs of several tasks are killed (SIGKILL, SIGTERM) and resumed, within a run and run after run: each ends with the
bits of one left alone; their folder (without the log, which is meant to grow), the peak memory of a session, temporary files
and processes left over must stay. Prints a table of growth by hour with its error; exit code 1 if anything grows or differs."""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "common")]
import growth  # noqa: E402
import runs  # noqa: E402

MIB = 1024.0 * 1024.0
FOREVER = 1_000_000
# What may change without being growth: a heap's arenas settle, a file's last block fills.
TOLERANCES = {"resident MiB": 4.0, "peak MiB": 4.0, "descriptors": 1.0, "threads": 1.0, "children": 1.0, "folder KiB": 64.0,
              "temporary files": 1.0, "processes left": 0.0}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    runs.Tools.add_arguments(parser, "program", "simulator")
    parser.add_argument("--supervisor", help="not used; all campaigns are called alike")
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="killed runs side by side")
    parser.add_argument("--json", help="the samples and results as a file")
    return parser.parse_args()


class Soak:
    def __init__(self, options, scratch):
        self.options, self.scratch = options, scratch
        self.tools = runs.Tools.of(options)
        self.begin = time.monotonic()
        self.end = self.begin + 3600.0 * options.hours
        self.pace = min(5.0, max(0.2, 3600.0 * options.hours / 1000))  # seconds between samples
        self.lock = threading.Lock()
        self.series = {}
        self.counts = {"killed": 0, "terminated": 0, "runs": 0, "iterations": 0, "polls": 0}
        self.failures = []
        self.logged = {}  # size of the logs of those that live long, MiB
        self.temporary = scratch / "temporary"
        self.temporary.mkdir()
        self.environment = dict(os.environ, TMPDIR=str(self.temporary))

    def over(self):
        return time.monotonic() >= self.end

    def note(self, who, what, value):
        with self.lock:
            self.series.setdefault((who, what), []).append((time.monotonic() - self.begin, float(value)))

    def count(self, what, by=1):
        with self.lock:
            self.counts[what] += by

    def fail(self, sentence):
        with self.lock:
            self.failures.append(sentence)

    def start(self, words, folder):
        """In a session of its own, so that what it leaves behind can be found."""
        with open(folder / ".out", "wb") as out, open(folder / ".err", "wb") as err:
            return subprocess.Popen([self.tools.program, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=out,
                                    stderr=err, env=self.environment, start_new_session=True)

    # Processes that live as long as the soak.
    def watch(self, who, process):
        folder = pathlib.Path(f"/proc/{process.pid}")
        while not self.over() and process.poll() is None:
            try:
                self.note(who, "resident MiB", memory(process.pid, "VmRSS"))
                self.note(who, "threads", len(os.listdir(folder / "task")))
                self.note(who, "descriptors", len(os.listdir(folder / "fd")))
                self.logged[who] = (self.scratch / who / "run" / "log.jsonl").stat().st_size / MIB
                self.note(who, "children", len(runs.session_members(process.pid)) - 1)
            except (OSError, TypeError):
                pass  # not there yet, or gone
            time.sleep(self.pace)
        early = process.poll()
        if early is None:
            process.terminate()
            try:
                early = process.wait(runs.HANG)
            except subprocess.TimeoutExpired:
                self.fail(f"{who} does not end at SIGTERM")
                process.kill()
                process.wait()
            if early not in (128 + signal.SIGTERM, None):
                self.fail(f"{who} ended with code {early} at SIGTERM")
        else:
            self.fail(f"{who} ended by itself with code {early}")
        left = runs.end_session(process.pid)
        self.note(who, "processes left", len(left))
        if left:
            self.fail(f"{who} left {len(left)} processes behind")

    def poll(self, folder, process):
        """As a page does, and as one that comes and goes."""
        found = None
        while not found and not self.over() and process.poll() is None:
            found = re.search(r"http://\S+", (folder / ".out").read_text(errors="replace"))
            time.sleep(0.05)
        line = 0
        while found and not self.over() and process.poll() is None:
            for path in ("", f"log?from={line}", "replay"):
                try:
                    with urllib.request.urlopen(found[0] + path, timeout=runs.HANG) as answer:
                        data = answer.read()
                    if path.startswith("log"):
                        line = max(line, runs.lines_of(folder / "run") - 5)
                    if not data:
                        self.fail(f"the live view's /{path} is empty")
                    self.count("polls")
                except (urllib.error.URLError, OSError) as error:
                    if process.poll() is None and not self.over():
                        self.fail(f"the live view's /{path}: {error}")
            time.sleep(min(1.0, 2 * self.pace))

    def long_lives(self):
        """The threads that tend them."""
        # Iterations of a second or two: a log that grows fast would hide what should not grow.
        slow = ["environments=256", "horizon=100", "critic.steps=1000", "critic.batch=1024", "policy.hidden=[32]",
                "critic.hidden=[64, 64]", f"iterations={FOREVER}"]
        live = self.scratch / "live"
        outside = self.scratch / "outside"
        for folder in (live, outside):
            folder.mkdir()
        command = json.dumps(self.tools.simulator)
        words = {
            "live": ["train", "function", "--out", "run", "--threads", "2", "--live", "--port", "0", "--set", *slow],
            "outside": ["train", "external", "--algo", "mb-cgpo", "--out", "run", "--threads", "1", "--set",
                        f"iterations={FOREVER}", "environments=8", "horizon=20", "policy.hidden=[8]", "critic.hidden=[8]",
                        "critic.steps=4", "critic.batch=64", "world.buffer=2048", *runs.WORLD, f"task.command={command}"]}
        tending = []
        for who, folder in (("live", live), ("outside", outside)):
            process = self.start(words[who], folder)
            tending.append(threading.Thread(target=self.watch, args=(who, process)))
            if who == "live":
                tending.append(threading.Thread(target=self.poll, args=(folder, process)))
        return tending

    # Runs that are killed.
    def session(self, who, words, folder, rng):
        """One start of a run, ended after a while by a signal."""
        process = self.start(words, folder)
        number = rng.choice([signal.SIGKILL, signal.SIGTERM])
        time.sleep(rng.uniform(0.02, 1.5))
        peak = memory(process.pid, "VmHWM")  # not what wait4 says, which has the peak of this script in it
        process.send_signal(number)
        process.wait()
        self.count("killed" if number == signal.SIGKILL else "terminated")
        left = runs.end_session(process.pid)
        self.note("killed runs", "processes left", len(left))
        if left:
            self.fail(f"{who}: {len(left)} processes outlive it")
        if process.returncode not in (-number, 128 + number):
            self.fail(f"{who}: ended with code {process.returncode}, not by signal {int(number)}: "
                      f"{(folder / '.err').read_text(errors='replace').strip()[-300:]}")
        if peak is not None and runs.lines_of(folder / "run") > 3:
            self.note(who, "peak MiB", peak)

    def finish(self, who, words, folder):
        process = self.start(words, folder)
        code = process.wait()
        if code != 0:
            self.fail(f"{who}: {' '.join(words[:6])}: {(folder / '.err').read_text(errors='replace').strip()[-300:]}")
        return code == 0

    def killed_life(self, who, words, folder, rng):
        """A run that is killed some times, brought to an end and compared."""
        run = folder / "run"
        given = [word for word in words if word.startswith("task.command=")]  # a folder's own is not run
        resume = ["train", words[1], "--resume", "--out", "run", "--threads", "1"]
        furthest = 0  # a kill may throw it back by a second's work; `best` may be of that second
        for _ in range(rng.randint(3, 10)):
            if self.over():
                break
            if has_begun(run):
                self.session(who, resume + (["--set", *given] if given else []), folder, rng)
            else:
                self.session(who, [*words, f"iterations={FOREVER}"], folder, rng)
            if has_begun(run):
                furthest = max(furthest, runs.lines_of(run))
            if run.exists():
                kept = sum(path.stat().st_size for path in run.rglob("*")
                           if path.is_file() and path.name not in ("log.jsonl", "timing.jsonl"))
                self.note(who, "folder KiB", kept / 1024)
        total = 5
        last = [*words, f"iterations={total}"]
        if has_begun(run):
            total = furthest + 2
            last = [*resume, "--set", f"iterations={total}", *given]
        alone = folder / "alone"
        shutil.rmtree(alone, ignore_errors=True)
        alone.mkdir()
        if not self.finish(who, last, folder) or not self.finish(who, [*words, f"iterations={total}"], alone):
            return
        self.count("runs")
        self.count("iterations", total)
        found, wanted = ({name: data for name, data in runs.bits(path).items() if is_compared(name)}
                         for path in (run, alone / "run"))
        different = runs.difference(found, wanted)
        if different:
            self.fail(f"{who}, killed and resumed over {total} iterations: {different}")
        shutil.rmtree(alone)

    def killed_lives(self, number):
        rng = random.Random(self.options.seed + number)
        command = json.dumps(self.tools.simulator)
        world = ["world.buffer=1024", *runs.WORLD]
        small = [setting for setting in runs.SMALL if not setting.startswith("limits")]
        sets = {
            "function": ["train", "function", "--set", *small],
            "cartpole": ["train", "cartpole", "--set", *small],
            "function-floor": ["train", "function-floor", "--algo", "mb-cgpo", "--set", *small, *world],
            "external": ["train", "external", "--algo", "mb-cgpo", "--set", *small, *world, f"task.command={command}"],
        }
        round_ = 0
        while not self.over() or round_ == 0:
            for who, words in sets.items():
                if self.over() and round_ > 0:
                    break  # each of them at least once, however slow the machine is
                folder = self.scratch / f"killed-{number}-{who}"
                folder.mkdir(exist_ok=True)
                flags = ["--force"] if (folder / "run").exists() else []
                words = [*words[:2], "--out", "run", "--threads", str(rng.randint(1, 2)), *flags, *words[2:]]
                self.killed_life(who, words, folder, rng)
                self.note("killed runs", "temporary files", sum(1 for _ in self.temporary.rglob("*")))
            round_ += 1

    def run(self):
        threads = self.long_lives()
        threads += [threading.Thread(target=self.killed_lives, args=(i,)) for i in range(self.options.jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return {key: growth.judge(samples, self.tolerance(*key)) for key, samples in sorted(self.series.items())}

    def tolerance(self, who, what):
        # A live view has the log in hand while it answers, as text, as numbers and as text again: up to 12 times its size
        # was seen, however often it was asked.
        log = 15.0 * self.logged.get(who, 0.0) if who == "live" and what == "resident MiB" else 0.0
        return TOLERANCES[what] + log


def memory(process, what):
    """In MiB; none if it is gone."""
    try:
        for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith(what + ":"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return None


def has_begun(run):
    """Whether the run to be killed has; one that it replaces had another number of iterations."""
    try:
        return f"iterations = {FOREVER}" in (run / "config.toml").read_text() and (run / "checkpoint.safetensors").exists()
    except OSError:
        return False


def is_compared(name):
    # How many snapshots there are, and how data is cut into files, depends on when it was ended; the bits of the last
    # checkpoint and of the log do not.
    return name in ("log.jsonl", "checkpoint.safetensors", "best.safetensors", "version")


def print_table(results):
    print(f"{'what':16}{'':18}{'samples':>9}{'first':>10}{'last':>10}{'by hour':>12}{'± error':>10}")
    for (who, what), result in results.items():
        def text(name):
            value = result.get(name)
            return "-" if value is None else f"{value:.4g}"
        print(f"{who:16}{what:18}{result['samples']:>9}{text('first'):>10}{text('last'):>10}{text('per_hour'):>12}"
              f"{text('error'):>10}{'  GROWS' if result['grows'] else ''}")


def main():
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="cgpo-soak-") as scratch:
        soak = Soak(options, pathlib.Path(scratch))
        results = soak.run()
    print_table(results)
    growing = [" ".join(key) for key, result in results.items() if result["grows"]]
    for sentence in soak.failures[:40]:
        print(sentence)
    counts = soak.counts
    print(f"{options.hours:g} hours: {counts['killed']} SIGKILL, {counts['terminated']} SIGTERM, {counts['runs']} runs of "
          f"{counts['iterations']} iterations compared, {counts['polls']} polls; {len(growing)} grow, "
          f"{len(soak.failures)} failures")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({
            "hours": options.hours, "seed": options.seed, **counts, "failures": soak.failures,
            "growth": [{"of": who, "what": what, **result} for (who, what), result in results.items()],
            "samples": {f"{who}: {what}": samples for (who, what), samples in soak.series.items()}}, indent=1))
    return 1 if growing or soak.failures or counts["runs"] == 0 else 0


if __name__ == "__main__":
    raise SystemExit(main())
