"""Tasks that are classes of Python: traced, then machine code."""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cgpo import _core
from cgpo._errors import Error
from cgpo._given import Random, State
from cgpo._robot import Robot
from cgpo._tracing import name_of, text_of, traced_option

__all__ = ["Random", "State", "Task"]

_folder: Path | None = None


def _folder_of_process() -> Path:
    global _folder
    if _folder is None:
        _folder = Path(tempfile.mkdtemp(prefix="cgpo-"))
        atexit.register(_remove, _folder, os.getpid())
    return _folder


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:  # a forked child ends with what its parent still needs
        shutil.rmtree(folder, ignore_errors=True)


class _Word:
    """What names a task to `cgpo.train` and others: the class says it as well as an object of it."""

    def __get__(self, task: Any, owner: Any) -> Any:
        return lambda: (owner() if task is None else task)._word()


class Task:
    """What is to be learned: a class of yours, whose methods say how it begins, what is seen, rewarded and limited.

    Its methods are run twice, over traced arrays, which must be the same both times, and become machine code with its
    derivatives; no Python runs in training.
    `cgpo.train`, `cgpo.check` and all that takes the name of a task take the class, or an object of it.

    What every task says:
        horizon: steps of an episode.
        reset(random): how it begins; `random.uniform` and `random.normal` draw.
        observe(now): what the policy sees, a vector.
        reward(before, action, after): one number, to be large.
        costs(before, action, after): numbers by name, whose sums over an episode `limits` bounds: limits = {"effort": 10.0},
            or a dict with "limit" and "meaning", "standard", "stops_at_end" as task files have them. If it has limits.
        done(before, action, after): ends the episode where it holds. If it ends early.
    Without a robot `now`, `before` and `after` are the state, a vector, and there are
        actions: how many numbers the policy chooses, each in (-1, 1).
        step(state, action): the next state.
        period: seconds of a step, if it has a clock.
    With one, they are moments (`cgpo.Moment`), and there are
        robot: a `cgpo.Robot`.
        period: seconds for which an action is kept.
    `reset` then gives a dict: "qpos" and "qvel", or "position" and "velocity" of joints by name or pattern; "lift": True;
    and states of its own, by name, which stay as they were drawn.

    And it may have: name, summary, options (numbers that `settings={"task.NAME": …}` changes, and that `self.NAME` is),
    defaults (settings that suit it), states and observations (which are then checked), reward_paper(before, action, after).

    >>> import cgpo
    >>> class Sled(cgpo.Task):
    ...     "A sled on ice: go far with little effort."
    ...     actions, horizon, limits = 1, 50, {"effort": 10.0}
    ...     options = {"friction": 0.2}
    ...     def reset(self, random):
    ...         return [0.0, random.uniform(-0.1, 0.1)]
    ...     def step(self, state, action):
    ...         speed = state[1] + 0.1 * (action[0] - self.friction * state[1])
    ...         return [state[0] + 0.1 * speed, speed]
    ...     def observe(self, state):
    ...         return state[1:]
    ...     def reward(self, before, action, after):
    ...         return after[1]
    ...     def costs(self, before, action, after):
    ...         return {"effort": action[0] ** 2}
    >>> Sled().step([0.0, 1.0], [0.0])
    [0.098, 0.98]
    >>> print(Sled().definition().split("[options]")[0], end="")
    name = "sled"
    summary = "A sled on ice: go far with little effort."
    horizon = 50
    actions = 1
    observation = "[state[1]]"
    reward = "state[1]"
    <BLANKLINE>
    """

    name: str | None = None
    summary: str | None = None
    horizon: int | None = None
    period: float | None = None
    robot: Robot | None = None
    actions: int | None = None
    states: int | None = None
    observations: int | None = None
    limits: Mapping[str, Any] = {}
    options: Mapping[str, Any] = {}
    defaults: Mapping[str, Any] = {}
    reward_stops_at_end = True

    __cgpo_task__ = _Word()

    def __getattr__(self, name: str) -> Any:
        # An option: while the task is traced a name of its file, else its standard.
        options = type(self).options if "options" not in self.__dict__ else self.__dict__["options"]
        if name.startswith("__") or name not in options:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        traced = traced_option(self, name)
        if traced is not None:
            return traced
        value = options[name]
        return value["value"] if isinstance(value, dict) else value

    def definition(self) -> str:
        """The task as a task file, which means the same: to look at, or to pass on.

        >>> import cgpo
        >>> class Still(cgpo.Task):
        ...     actions, horizon = 1, 10
        ...     def reset(self, random):
        ...         return [0.5]
        ...     def step(self, state, action):
        ...         return 0.9 * state + 0.1 * action
        ...     def observe(self, state):
        ...         return state
        ...     def reward(self, before, action, after):
        ...         return -cgpo.norm(after - before)
        >>> "actions = 1" in Still().definition()
        True
        """
        return text_of(self)

    def save(self, file: str | os.PathLike[str]) -> Path:
        """Writes it as a task file, NAME.toml, for the command line or for others; returns its path.

        The robot's MJCF is in it; meshes and pictures are not.

        >>> import cgpo
        >>> class Going(cgpo.Task):
        ...     actions, horizon = 1, 10
        ...     def reset(self, random):
        ...         return [0.0]
        ...     def step(self, state, action):
        ...         return state + action
        ...     def observe(self, state):
        ...         return state
        ...     def reward(self, before, action, after):
        ...         return after[0]
        >>> Going().save("going.toml").name
        'going.toml'
        """
        path = Path(file)
        if path.suffix != ".toml":
            raise Error(f"a task file ends with .toml, and '{path}' does not")
        path.write_text(self._checked()[1], encoding="utf-8")
        return path

    def _checked(self) -> tuple[str, str]:
        """The definition, and the same with the robot in it. What is wrong has no place in a file that nobody wrote."""
        text = self.definition()
        try:
            return text, _core.whole_task_file(text, name_of(self))
        except Error as error:
            raise Error(re.sub(r"^[^:]*:[0-9]+:[0-9]+: ", f"{type(self).__name__}: ", str(error))) from None

    def _word(self) -> str:
        text = self._checked()[0]
        folder = _folder_of_process() / hashlib.sha256(text.encode()).hexdigest()[:12]
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{name_of(self)}.toml"
        if not file.exists():
            part = folder / f"{os.getpid()}-{threading.get_ident()}"  # others may look for the file now
            part.write_text(text, encoding="utf-8")
            part.replace(file)
        return str(file)
