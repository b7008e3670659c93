"""What there is, and whether a task's derivatives are right."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cgpo import _core, _values

if TYPE_CHECKING:
    from cgpo._values import TaskLike


def tasks() -> list[dict[str, Any]]:
    """All tasks: what `cgpo tasks --json` lists, a dict for each; then the black boxes that this process has made.

    >>> import cgpo
    >>> [task["name"] for task in cgpo.tasks()][:3]
    ['function', 'function-floor', 'cartpole']
    >>> cgpo.tasks()[0]["costs"][0]["limit"]
    8.0
    """
    return json.loads(_core.tasks_json())["tasks"]


def algorithms() -> list[dict[str, Any]]:
    """All algorithms: what `cgpo algorithms --json` lists, a dict for each.

    >>> import cgpo
    >>> cgpo.algorithms()[0]["name"]
    'cgpo'
    """
    return json.loads(_core.algorithms_json())["algorithms"]


def settings(
    task: TaskLike | None = None,
    algo: str | None = None,
    preset: str | None = None,
    settings: dict[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Every setting with its type, default, range and meaning: what `cgpo settings --json` lists, a dict for each.

    With a task or an algorithm the defaults are those in force for it, and `origin` says who set them.

    >>> import cgpo
    >>> known = {setting["name"]: setting for setting in cgpo.settings("function")}
    >>> known["horizon"]["default"], known["radius.test"]["type"]
    (100, 'text')
    """
    text = _core.settings_json(
        _values.word(task),
        _values.text("algo", algo, "ppo-lag"),
        _values.text("preset", preset, "paper"),
        _values.flat(_values.limited(settings)),
    )
    return json.loads(text)["settings"]


def check(
    task: TaskLike,
    *,
    states: int = 32,
    window: int = 10,
    seed: int = 0,
    settings: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Compares a task's derivatives with central differences: what `cgpo check --json` prints, as a dict.

    They agree if `max_relative_error` is at most 1e-5.

    >>> import cgpo
    >>> cgpo.check("function")["max_relative_error"] < 1e-5
    True
    """
    text = _core.check_json(
        _values.needed(task),
        _values.whole("states", states, 1, 1_000_000),
        _values.whole("window", window, 1, 1_000_000),
        _values.whole("seed", seed, 0, _values.LARGEST_SEED),
        _values.flat(settings),
    )
    found: dict[str, Any] = json.loads(text)
    return found
