"""From what users write to what the module takes."""

from __future__ import annotations

import json
import operator
import os
import re
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from cgpo import _core
from cgpo._errors import Error

if TYPE_CHECKING:
    from cgpo._black_box import BlackBox
    from cgpo._task import Task

    #: What names a task, or makes one.
    TaskLike: TypeAlias = "str | os.PathLike[str] | Task | type[Task] | BlackBox | Callable[[], Any]"

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


def mapping(settings: Any) -> Mapping[str, Any]:
    """Settings that were given, or none."""
    if settings is not None and not isinstance(settings, Mapping):
        raise Error(f'settings must be a dict, such as {{"radius.confidence": 0.99}}, not {settings!r}')
    return settings or {}


def flat(settings: Mapping[str, Any] | None, prefix: str = "") -> list[tuple[str, Any]]:
    """Settings as (dotted key, value), whether they came dotted or in dicts within dicts."""
    pairs = []
    for key, value in mapping(settings).items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            pairs += flat(value, name + ".")
        else:
            pairs.append((name, plain(value)))
    return pairs


def limited(settings: Mapping[str, Any] | None, costs: Any = None, limits: Any = None) -> dict[str, Any]:
    """Settings with these costs and limits; limits may be a dict by the names of costs, which are then those that count."""
    chosen = dict(mapping(settings))
    if costs is not None:
        chosen["costs"] = costs
    if limits is not None:
        chosen["limits"] = limits
    if "costs" in chosen:
        chosen["costs"] = _names(chosen["costs"])
    if "limits" in chosen:
        chosen["limits"] = _numbers(chosen)
    return chosen


def _names(costs: Any) -> list[str]:
    names = [costs] if isinstance(costs, str) else costs
    if isinstance(names, (bytes, Mapping)) or not all(isinstance(name, str) for name in _items(names)):
        raise Error(f"costs must be the name of a cost, or a list of names, not {costs!r}")
    return list(names)


def _items(several: Any) -> list[Any]:
    try:
        return list(several)
    except TypeError:
        return [several]


def _numbers(chosen: dict[str, Any]) -> list[Any]:
    limits = chosen["limits"]
    if isinstance(limits, Mapping):
        names = chosen.setdefault("costs", [str(name) for name in limits])
        if sorted(names) != sorted(map(str, limits)):
            raise Error(f"limits has {', '.join(map(str, limits))}, and costs {', '.join(names)}: they are the same names")
        limits = [limits[name] for name in names]
    try:
        return list(np.ravel(np.asarray(limits, dtype=float)).tolist())
    except (TypeError, ValueError):
        raise Error(f"limits must be numbers, or a dict of them by the names of costs, not {limits!r}") from None


def _named(task: Any) -> Any:
    """What says of itself which task it is; a function that makes environments becomes a black box."""
    if hasattr(type(task), "__cgpo_task__") or (isinstance(task, type) and hasattr(task, "__cgpo_task__")):
        return task
    gymnasium = sys.modules.get("gymnasium")
    kinds = (gymnasium.Env, gymnasium.vector.VectorEnv) if gymnasium is not None else ()
    if isinstance(task, kinds):
        raise Error(
            "training needs many environments, and this is one: give cgpo.black_box(lambda: gymnasium.make(...)), with a "
            "function that makes them"
        )
    kind = task if isinstance(task, type) else type(task)
    if not issubclass(kind, kinds) and all(callable(getattr(kind, method, None)) for method in ("reset", "observe")):
        raise Error(f"{kind.__name__} is no cgpo.Task: write class {kind.__name__}(cgpo.Task)")
    if callable(task) and (not isinstance(task, type) or issubclass(task, kinds)):
        from cgpo._black_box import black_box

        return black_box(task)
    raise Error(
        "task must be a name out of cgpo.tasks(), the path of a task file, a cgpo.Task, or a function that makes environments "
        f"of Gymnasium, not {task!r}"
    )


def named(task: Any) -> Any:
    """A name or path as text, or what says of itself which task it is; None stays."""
    if task is None or isinstance(task, str):
        return task
    if isinstance(task, os.PathLike) and isinstance(path := os.fspath(task), str):
        return path
    return _named(task)


def word(task: Any) -> Any:
    """What names a task to the module: its name, the path of a task file, or what an object says of itself."""
    found = named(task)
    if found is None:
        return None
    if isinstance(found, str):
        return _no_identifier(found)
    return found.__cgpo_task__()


def needed(task: Any) -> Any:
    """The same, where there must be one."""
    if task is None:
        _named(task)
    return word(task)


def _no_identifier(name: str) -> str:
    """The same, but an error if it is what Gymnasium calls a task."""
    if not re.search(r"^cgpo/|-v\d+$", name):
        return name
    from cgpo._registration import title

    titles = {task["name"]: title(task["name"]).lower() for task in json.loads(_core.tasks_json())["tasks"]}
    if name in titles:
        return name
    plain = re.sub(r"^cgpo/|-v\d+$", "", name).lower()
    for task, known in titles.items():
        if plain == known:
            raise Error(f"{name!r} is what Gymnasium calls it; the task is {task!r}")
    return name


def text(name: str, value: Any, example: str) -> str | None:
    """A word; None stays."""
    return None if value is None else needed_text(name, value, example)


def needed_text(name: str, value: Any, example: str) -> str:
    """The same, where there must be one."""
    if not isinstance(value, str):
        raise Error(f"{name} must be a text, such as {example!r}, not {value!r}")
    return value


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


def path(value: Any, name: str = "out") -> str | None:
    """A path as text; None stays."""
    return None if value is None else needed_path(value, name)


def needed_path(value: Any, name: str) -> str:
    """The same, where there must be one."""
    if not isinstance(value, (str, os.PathLike)) or not isinstance(found := os.fspath(value), str):
        raise Error(f"{name} must be a path, not {value!r}")
    return found
