"""What the scripts beside this one share: turns, and rows of one table."""

import dataclasses
import os
import pathlib
import platform

ROOT = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass
class Row:
    """A claim: what ours takes or gives, what stands beside it, and their ratio with what was aimed at."""

    what: str
    ours: str
    beside: str = ""
    ratio: float | None = None
    aim: str = ""
    met: bool | None = None

    def cells(self):
        ratio = "" if self.ratio is None else f"{self.ratio:.3g}"
        met = {None: "", True: "yes", False: "**no**"}[self.met]
        return [self.what, self.ours, self.beside, ratio, self.aim, met]


def in_turns(rounds, *measures):
    """The best of each, all of them tried in every round, so that whatever else runs slows them alike: least is best."""
    found = [[] for _ in measures]
    for _ in range(rounds):
        for numbers, measure in zip(found, measures):
            numbers.append(measure())
    return [min(numbers) for numbers in found]


def show(rows):
    """Prints rows as a table of Markdown, after what they were measured on."""
    with open("/proc/cpuinfo") as lines:
        names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    name = names[0] if names else platform.machine()
    print(
        f"{name}, {len(os.sched_getaffinity(0))} cores, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}\n"
    )
    print("| what | ours | beside it | ratio | aim | met |\n| --- | --- | --- | --- | --- | --- |")
    for row in rows:
        print("| " + " | ".join(row.cells()) + " |")
