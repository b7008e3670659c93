"""From what users write to what the module takes."""

import os


def plain(value):
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


def flat(settings, prefix=""):
    """Settings as (dotted key, value), whether they came dotted or in dicts within dicts."""
    pairs = []
    for key, value in (settings or {}).items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            pairs += flat(value, name + ".")
        else:
            pairs.append((name, plain(value)))
    return pairs


def word(task):
    """What names a task to the module: its name, the path of a task file, or what an object says of itself."""
    if task is None:
        return None
    say = getattr(task, "__cgpo_task__", None)
    return say() if say is not None else os.fspath(task)


def whole(value):
    """A whole number, NumPy's too; None stays."""
    return None if value is None else int(value)


def path(value):
    """A path as text; None stays."""
    return None if value is None else os.fspath(value)
