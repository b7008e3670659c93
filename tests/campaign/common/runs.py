"""What the crash harness, the fault layer and the soak share: how the program is called, and what a run's bits are.

Plain Python, so that it runs wherever the program does."""
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

HANG = 60.0  # seconds; nothing here takes more than one or two
NOT_PERMITTED = 77  # the exit code for "could not be tested here", as ctest knows it

# A run of some milliseconds that writes every file a run can have.
SMALL = ["environments=16", "horizon=10", "window=5", "limits=[1.9]", "policy.hidden=[8]", "critic.hidden=[8]",
         "critic.steps=2", "critic.batch=32", "kernel.block=8", "snapshots=3"]
WORLD = ["world.hidden=[8]", "world.minibatches=4", "world.batch=32"]


@dataclasses.dataclass
class Tools:
    program: str
    supervisor: str = ""
    allocations: str = ""
    simulator: str = ""  # the shell command of one that is a program

    @staticmethod
    def add_arguments(parser, *names):
        for name in names:
            parser.add_argument("--" + name, required=True)

    @staticmethod
    def of(options):
        paths = {name: str(pathlib.Path(getattr(options, name)).resolve())
                 for name in ("program", "supervisor", "allocations") if getattr(options, name, None)}
        return Tools(**paths, simulator=getattr(options, "simulator", None) or "")


@dataclasses.dataclass
class Outcome:
    code: int  # negative: ended by that signal; None: did not end
    out: str
    err: str
    report: dict  # of the supervisor
    left: list  # processes that outlived it

    def sentence(self):
        """Whether it ended as a refusal should: exit code 2 and one line of ours."""
        lines = self.err.splitlines()
        ours = [line for line in lines if line.startswith("cgpo: ")]
        return self.code == 2 and len(ours) == 1 and lines[-1] == ours[0] and "internal error" not in self.err

    def ending(self):
        how = "hangs" if self.code is None else f"exit code {self.code}"
        return f"{how}: {self.err.strip()[-300:] or '(nothing said)'}"


def session_members(session):
    members = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # gone meanwhile
        if int(fields[3]) == session and fields[0] != "Z":
            members.append(int(entry.name))
    return members


def end_session(session):
    """Those that are still there after a while; what was told to end may take a moment. They are ended."""
    end = time.monotonic() + HANG
    members = session_members(session)
    while members and time.monotonic() < end:
        time.sleep(0.01)
        members = session_members(session)
    for process in members:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return members


def call(tools, words, folder, *, at=0, do="", kinds="files", listing="", allocation=None, before=None, input_=None,
         seconds=HANG):
    """Runs the program in a folder; under the supervisor if it is to be counted, killed or made to fail."""
    folder = pathlib.Path(folder)
    report = folder / ".report"
    line = [tools.program, *words]
    if at or listing or do == "count":
        front = [tools.supervisor, "--kinds", kinds, "--report", str(report)]
        front += ["--at", str(at), "--do", do] if at else []
        front += ["--list", str(listing)] if listing else []
        line = [*front, "--", *line]
    # A checkpoint after every iteration: what is lost does not depend on how fast the machine is.
    environment = dict(os.environ, CGPO_CHECKPOINT_SECONDS="0")
    if allocation is not None:
        environment.update(allocation, LD_PRELOAD=tools.allocations)
    with open(folder / ".out", "wb") as out, open(folder / ".err", "wb") as err:
        process = subprocess.Popen(line, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment,
                                   start_new_session=True, preexec_fn=before)
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            code = None
        starts_others = "external" in words or "compare" in words
        left = end_session(process.pid) if starts_others else []
    counts = {}
    if report.exists():
        for entry in report.read_text().splitlines():
            name, _, value = entry.partition(" ")
            counts[name] = value if name == "hit" else int(value)
        report.unlink()
    texts = [(folder / name).read_text(errors="replace") for name in (".out", ".err")]
    return Outcome(code, *texts, counts, left)


def lines_of(run):
    try:
        return (run / "log.jsonl").read_bytes().count(b"\n")
    except OSError:
        return 0


def without_clock(log):
    try:
        entries = [json.loads(line) for line in log.splitlines()]
        for entry in entries:
            entry.pop("seconds")
    except (ValueError, KeyError, AttributeError):
        return log  # damaged, so different from any that is not
    return b"\n".join(json.dumps(entry).encode() for entry in entries)


def bits(run):
    """What of a run must be the same: every file, the log without its clock. Not how long its iterations took."""
    found = {}
    for path in sorted(run.rglob("*")):
        name = str(path.relative_to(run))
        # A page may have several writers, so none of them knows whether a temporary file is still another's.
        if re.fullmatch(r"\.report\.html\..*\.tmp", path.name):
            continue
        # Of a comparison its runs; its tables say how long they took, and pictures are not drawn without gnuplot.
        if path.is_dir() or path.name == ".lock" or path.suffix == ".out" or name.startswith(("curve", "pareto", "table.")):
            continue
        data = path.read_bytes()
        if path.name == "timing.jsonl":
            data = data.count(b"\n")
        if path.name == "log.jsonl":
            data = without_clock(data)
        if name == "report.html":
            data = re.sub(rb'"made":"[^"]*"', b"", data)
        found[name] = data
    return found


def difference(found, wanted):
    """Nothing, or what differs between the bits of two runs."""
    words = []
    for name in sorted(set(found) | set(wanted)):
        if name not in found:
            words.append(f"{name} is missing")
        elif name not in wanted:
            words.append(f"{name} is left over")
        elif found[name] != wanted[name]:
            words.append(f"{name} differs")
    return ", ".join(words)


def resumed_at(outcome):
    """After which iteration a resumed run went on; none if it had been finished."""
    found = re.search(r"going on after iteration (\d+)", outcome.out)
    return int(found[1]) if found else None


@dataclasses.dataclass
class Life:
    """One part of a run's life: a folder as it is before, and a command that is to be disturbed."""
    name: str
    words: list
    prepare: object = None  # fills the folder
    again: list = None  # what continues it; the command itself unless said
    old: bool = False  # whether it replaces a run

    def set_up(self, scratch):
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        if self.prepare:
            shutil.copytree(self.prepare, scratch, dirs_exist_ok=True)
        return scratch / "run"


def training(task, *more, algorithm="cgpo", iterations=6, threads=1, settings=()):
    return ["train", task, "--algo", algorithm, "--out", "run", "--threads", str(threads), *more, "--set",
            f"iterations={iterations}", *SMALL, *settings]


def must(tools, words, folder):
    outcome = call(tools, words, folder)
    if outcome.code != 0:
        raise SystemExit(f"an undisturbed call fails: {' '.join(words)}\n{outcome.ending()}")


def make_lives(tools, scratch):
    """All of them, with the folders that they begin with."""
    short, old, done = scratch / "short", scratch / "old", scratch / "done"
    for folder in (short, old, done):
        folder.mkdir(parents=True)
    must(tools, training("function", iterations=3), short)
    must(tools, training("function", "--seed", "7", iterations=4), old)
    must(tools, training("function"), done)
    half = scratch / "half"
    shutil.copytree(short, half)
    killed = call(tools, resume(iterations=6), half, kinds="changes", at=25, do="kill")
    if killed.code != -signal.SIGKILL:
        raise SystemExit(f"the harness cannot kill: {killed.ending()}")
    for folder in (short, half, old, done):
        for name in (".out", ".err"):
            (folder / name).unlink()
    world = dict(algorithm="mb-cgpo", settings=WORLD)
    lives = [
        Life("new", training("function")),
        Life("threads", training("cartpole", threads=3, settings=["limits=[-1.0]"])),
        Life("data", training("function-floor", **world)),
        Life("extend", resume(iterations=6), prepare=short),
        Life("resume", resume(), prepare=half),
        Life("force", training("function", "--force"), prepare=old, old=True),
        Life("report", ["report", "run", "--out", "run/report.html"], prepare=done),
        Life("eval", ["eval", "run", "--episodes", "8", "--json"], prepare=done),
    ]
    if shutil.which("gnuplot"):
        words = ["compare", "function", "--algos", "cgpo,ppo-lag", "--seeds", "1", "--jobs", "2", "--out", "run", "--set",
                 "iterations=2", *SMALL]
        lives.append(Life("compare", words, again=words))
    if tools.simulator:
        command = json.dumps(tools.simulator)
        lives.append(Life("external", training("external", **dict(world, settings=WORLD + [f"task.command={command}",
                                                                                           "limits=[]"]))))
    for life in lives:
        if life.again is None:
            life.again = life.words if life.name in ("extend", "resume", "report", "eval") else resume(tools=tools, life=life)
    return lives


def resume(iterations=None, tools=None, life=None):
    words = ["train", "--resume", "--out", "run", "--threads", "1"]
    sets = [] if iterations is None else [f"iterations={iterations}"]
    if life is not None:
        words[1:1] = [life.words[1]]
        # A folder's command is run only if it is given again.
        sets += [word for word in life.words if word.startswith("task.command=")]
    return words + (["--set", *sets] if sets else [])
