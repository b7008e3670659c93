"""From what users write to what the module takes."""

from __future__ import annotations

import operator
import os
from typing import Any

from cgpo._errors import Error

LARGEST_SEED = 2**63 - 1


def plain(value: Any) -> Any:
    """A value of a setting: numbers and arrays of NumPy become Python's, tuples lists, paths texts."""
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def flat(settings: dict[str, Any] | None, prefix: str = "") -> list[tuple[str, Any]]:
    """Settings as (dotted key, value), whether they came dotted or in dicts within dicts."""
    pairs = []
    for key, value in (settings or {}).items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            pairs += flat(value, name + ".")
        else:
            pairs.append((name, plain(value)))
    return pairs


def word(task: Any) -> Any:
    """What names a task to the module: its name, the path of a task file, or what an object says of itself."""
    if task is None:
        return None
    say = getattr(task, "__cgpo_task__", None)
    if say is None and callable(task):
        from cgpo._black_box import black_box

        say = black_box(task).__cgpo_task__
    return say() if say is not None else os.fspath(task)


def whole(name: str, value: Any, low: int, high: int) -> int:
    """A whole number within bounds, NumPy's too."""
    try:
        number = operator.index(value)
    except TypeError:
        number = low - 1
    if not low <= number <= high:
        raise Error(f"{name} must be a whole number from {low} to {high}, not {value!r}")
    return number


def seed(value: Any) -> int | None:
    """A seed; None stays."""
    return None if value is None else whole("seed", value, 0, LARGEST_SEED)


def threads(value: Any) -> int:
    """A number of threads; 0: all cores."""
    return whole("threads", value, 0, 1024)


def path(value: Any) -> str | None:
    """A path as text; None stays."""
    return None if value is None else os.fspath(value)
