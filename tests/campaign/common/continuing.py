"""What must hold of a run's folder, whatever has befallen the program: it can be had, with the same bits as if nothing had."""
import shutil

import runs

LOST = 1  # iterations of the log that may be done again: a checkpoint follows its line


class Failed(Exception):
    """A sentence about what is wrong."""


class Reference:
    """A life left alone: its bits, how many calls it makes, and those of the run that it replaces."""

    def __init__(self, tools, life, scratch):
        run = life.set_up(scratch)
        self.old = runs.bits(run) if life.old else None
        self.calls = scratch / ".calls"
        outcome = runs.call(tools, life.words, scratch, kinds="files", listing=self.calls)
        if outcome.code == 125 and "not permitted" in outcome.err:
            print(outcome.err.strip())
            raise SystemExit(runs.NOT_PERMITTED)
        if outcome.code != 0:
            raise SystemExit(f"{life.name}, undisturbed: {outcome.ending()}")
        self.bits = runs.bits(run)
        self.out = outcome.out
        self.listed = self.calls.read_text().splitlines()
        self.calls.unlink()
        self.files = outcome.report["files"]
        self.all = outcome.report["all"]
        self.beside = beside(scratch)


def beside(scratch):
    """What lies beside a run."""
    return sorted(path.name for path in scratch.iterdir() if path.name not in (".out", ".err", "run"))


def resume_or_begin(tools, life, scratch):
    """As a user does who sees that the program has died. Returns by which command the run came to its end."""
    run = scratch / "run"
    lines = runs.lines_of(run)
    outcome = runs.call(tools, life.again, scratch)
    if outcome.code == 0:
        after = runs.resumed_at(outcome)
        if after is not None and after < lines - LOST:
            raise Failed(f"the log had {lines} iterations, --resume goes on after {after}")
        return "resumed"
    if not outcome.sentence():
        raise Failed(f"--resume: {outcome.ending()}")
    if lines > 0 and not life.old:
        raise Failed(f"{lines} iterations are lost: {outcome.ending()}")
    refused = outcome
    ways = {"anew": life.words}
    if life.words[0] == "train" and not life.old:
        ways["forced"] = force_words(life)
    for way, words in ways.items():
        outcome = runs.call(tools, words, scratch)
        if outcome.code == 0:
            return way
        if not outcome.sentence():
            raise Failed(f"{way}: {outcome.ending()}")
        refused = outcome
    raise Failed(f"nothing takes the folder: {refused.ending()}")


def compare(run, wanted):
    different = runs.difference(runs.bits(run), wanted)
    if different:
        raise Failed(different)


def old_is_whole(scratch, reference):
    """Whether the replaced run still is, in its place or beside it."""
    for path in scratch.rglob("*"):
        if path.is_dir():
            found = runs.bits(path)
            if all(found.get(name) == data for name, data in reference.old.items()):
                return True
    return False


def go_on(tools, life, reference, scratch, with_force):
    """After a kill, or after several: what must hold of any folder. Returns how the run came to its end."""
    copy = scratch.parent / (scratch.name + "-forced")
    if with_force and life.words[0] == "train" and "--resume" not in life.words:
        shutil.copytree(scratch, copy, symlinks=True)
    try:
        if life.old:
            whole = old_is_whole(scratch, reference)
            way = resume_or_begin(tools, life, scratch)
            found = runs.bits(scratch / "run")
            if way == "resumed" and not runs.difference(found, reference.old):
                way = "kept"  # the old one: it was finished, and is untouched or put back
            elif runs.difference(found, reference.bits):
                lost = "" if whole else "both runs are lost: "
                raise Failed(lost + runs.difference(found, reference.bits))
        else:
            way = resume_or_begin(tools, life, scratch)
            compare(scratch / "run", reference.bits)
        if copy.exists():
            forced = runs.call(tools, force_words(life), copy)
            if forced.code != 0:
                raise Failed(f"--force: {forced.ending()}")
            compare(copy / "run", reference.bits)
            if beside(copy) != reference.beside:
                raise Failed(f"after --force there is more beside the run: {', '.join(beside(copy))}")
    finally:
        shutil.rmtree(copy, ignore_errors=True)
    return way


def force_words(life):
    return life.words if "--force" in life.words else [*life.words[:2], "--force", *life.words[2:]]
