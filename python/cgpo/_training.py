"""Training."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from cgpo import _core, _progress, _values
from cgpo._black_box import BlackBox
from cgpo._errors import Error
from cgpo._run import Run

if TYPE_CHECKING:
    from cgpo._values import TaskLike

Callback = Callable[[dict[str, Any]], Any]


class _Enough(Exception):
    """A callback has said StopIteration."""


def _callbacks(callback: Callback | Sequence[Callback] | None) -> list[Callback]:
    if callback is None:
        return []
    several = [callback] if callable(callback) or not isinstance(callback, Sequence) else list(callback)
    for one in several:
        if not callable(one):
            raise Error(f"callback must be a function of an iteration's line, or a list of such, and {one!r} is none")
    return several


class _Listener:
    """Between the module, which trains, and all that hears of it."""

    def __init__(self, callbacks: list[Callback], progress: _progress.Quiet) -> None:
        self.callbacks = callbacks
        self.progress = progress
        self.folder: str | None = None

    def opened(self, opening: dict[str, Any]) -> None:
        self.folder = opening["folder"]
        self.progress.open(opening)
        for element in opening["left_out"]:
            warnings.warn(f"left out of the robot: {element}", stacklevel=3)
        for text in (*opening["warnings"], *opening["notes"]):
            warnings.warn(text, stacklevel=3)

    def told(self, line: str, text: str) -> None:
        entry = json.loads(line)
        self.progress.show(entry["iteration"], text)
        for callback in self.callbacks:
            try:
                callback(entry)
            except StopIteration:
                raise _Enough from None


def train(
    task: TaskLike | None = None,
    algo: str | None = None,
    preset: str | None = None,
    seed: int | None = None,
    out: str | os.PathLike[str] | None = None,
    callback: Callback | Sequence[Callback] | None = None,
    threads: int = 0,
    settings: dict[str, Any] | None = None,
    *,
    init: str | os.PathLike[str] | None = None,
    resume: bool = False,
    force: bool = False,
    progress: bool = True,
    allow_command: bool = False,
    allow_unsupported: bool = False,
    **top_level: Any,
) -> Run:
    """Trains a policy, and returns the run: bit for bit what `cgpo train` makes of the same words.

    task: a name out of `cgpo.tasks()`, or the path of a task file. algo ("cgpo"), preset ("best") and seed (0) are those
    of the command line. settings: any setting by its dotted key, {"radius.confidence": 0.99}; one without a dot may stand
    as an argument, iterations=50 or limits=[300]; limits={"speed": 300} names the costs that count. `cgpo.settings(task)`
    lists them.

    out: the run's folder (runs/TASK-ALGO-sSEED). One that holds a run is refused, but for resume=True, which goes on with
    it, and force=True, which replaces it. init: a run whose best policy is the first. threads: 0 takes all cores; results
    do not depend on it.

    callback: called after every iteration with its line of the log, a dict; or a list of such. If it raises StopIteration,
    training ends and the run is returned; any other exception ends it, too, and goes on from here. Ctrl-C ends it after the
    iteration as KeyboardInterrupt. In all these cases a checkpoint is written first, and resume=True goes on from there.

    progress: False shows nothing.

    >>> import cgpo
    >>> run = cgpo.train("function", iterations=4, settings={"radius.test": "fixed"}, out="train-run", progress=False)
    >>> len(run.log["return"])
    4
    >>> def enough(line):
    ...     if line["iteration"] == 1:
    ...         raise StopIteration
    >>> run = cgpo.train("function", iterations=4, out="stopped-run", callback=enough, progress=False)
    >>> len(run.log["return"])
    2
    >>> len(cgpo.train(out="stopped-run", resume=True, progress=False).log["return"])
    4
    """
    callbacks = _callbacks(callback)
    chosen = _values.limited({**_values.mapping(settings), **top_level})
    what = _values.named(task)
    if isinstance(what, BlackBox):
        what.demand_limits(chosen)
    shown = _progress.make(progress)
    listener = _Listener(callbacks, shown)
    try:
        _core.train(
            task=_values.word(what),
            algorithm=_values.text("algo", algo, "ppo-lag"),
            preset=_values.text("preset", preset, "paper"),
            init=_values.path(init, "init"),
            seed=_values.seed(seed),
            settings=_values.flat(chosen),
            out=_values.path(out),
            resume=bool(resume),
            force=bool(force),
            allow_unsupported=bool(allow_unsupported),
            allow_command=bool(allow_command),
            threads=_values.threads(threads),
            opened=listener.opened,
            told=listener.told,
        )
    except _Enough:
        pass
    except KeyboardInterrupt as pressed:
        if pressed.args or listener.folder is None:
            raise
        done = len(Run(listener.folder).log["iteration"])
        raise KeyboardInterrupt(
            f"stopped after {done} iterations; cgpo.train(out={listener.folder!r}, resume=True) goes on"
        ) from None
    finally:
        shown.close()
    assert listener.folder is not None
    return Run(listener.folder, allow_command=allow_command, settings=settings)
