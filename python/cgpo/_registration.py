"""Tells Gymnasium of every task, as soon as both are imported, whichever comes first; cgpo does not import it."""

from __future__ import annotations

import importlib.abc
import importlib.util
import json
import re
import sys
from typing import TYPE_CHECKING, Any

from cgpo import _core, _values
from cgpo._errors import Error

if TYPE_CHECKING:
    from cgpo._values import TaskLike

_SPELLED = {"cartpole": "CartPole", "halfcheetah": "HalfCheetah", "walker2d": "Walker2d"}


def title(task: str) -> str:
    """What a task is called in Gymnasium, without its version."""
    if re.search("[A-Z]", task):  # SafetyAntVelocity-v1
        return re.sub(r"-v\d+$", "", task)
    return _SPELLED.get(task) or "".join(part.capitalize() for part in re.split("[-_]", task))


def identifier(task: str) -> str:
    """What `gymnasium.make` takes for a task: cgpo/HalfCheetah-v0."""
    version = re.search(r"-v\d+$", task)
    return f"cgpo/{title(task)}{version.group() if version else '-v0'}"


def gymnasium_name(task: str) -> str | None:
    """What Safety-Gymnasium calls a task of its own in Gymnasium; None: it is none of them."""
    return re.sub(r"-v1$", "Gymnasium-v1", task) if re.fullmatch(r"Safety\w+Velocity-v1", task) else None


def action_range(task: str) -> float:
    """The range of actions that Safety-Gymnasium has for a task of its own: that of the controls."""
    known = json.loads(_core.settings_json(task, None, None, []))["settings"]
    return next(float(one["default"]) for one in known if one["name"] == "task.action_scale")


_own: set[str] = set()  # that `register` has made


def register(task: TaskLike, id: str | None = None) -> str:
    """Has Gymnasium know a task of one's own, so that `gymnasium.make` takes its id, which is returned: cgpo/NAME-v0.

    task: whatever `cgpo.train` takes. id: another one than that. A task that is registered again, as in a notebook, takes
    the place of the one before.

    >>> import cgpo, gymnasium
    >>> class Drift(cgpo.Task):
    ...     actions, horizon = 1, 30
    ...     reset = lambda self, random: [random.uniform(-1.0, 1.0)]
    ...     step = lambda self, state, action: state + 0.1 * action
    ...     observe = lambda self, state: state
    ...     reward = lambda self, before, action, after: -cgpo.square(after[0])
    >>> cgpo.register(Drift)
    'cgpo/Drift-v0'
    >>> gymnasium.make("cgpo/Drift-v0").spec.max_episode_steps
    30
    """
    from cgpo.environments import Environment, VectorEnvironment, gymnasium

    what = _values.named(task)
    tried = Environment(what)
    name = identifier(tried._core.task) if id is None else _values.needed_text("id", id, "cgpo/Sled-v0")
    if name in gymnasium.registry and name not in _own:
        raise Error(f"Gymnasium has {name!r} already: give it another id, cgpo.register(task, id=...)")
    gymnasium.registry.pop(name, None)
    horizon = tried.horizon

    # Functions, since Gymnasium copies what it keeps beside them.
    def make(**arguments: Any) -> Any:
        return Environment(what, **{"max_episode_steps": 0, **arguments})

    def make_many(**arguments: Any) -> Any:
        return VectorEnvironment(what, **arguments)

    try:
        gymnasium.register(id=name, entry_point=make, vector_entry_point=make_many, max_episode_steps=horizon)
    except gymnasium.error.Error as error:
        raise Error(f"{name!r} is no id for Gymnasium: {error}") from None
    _own.add(name)
    return name


def _register_all() -> None:
    """Registers what is not registered yet; a task that is nothing without its settings is left out."""
    import gymnasium

    for task in json.loads(_core.tasks_json())["tasks"]:
        if task.get("horizon") is None:
            continue
        names = {identifier(task["name"]): ("cgpo.environments:_registered", "cgpo.environments:VectorEnvironment")}
        if theirs := gymnasium_name(task["name"]):
            names[theirs] = ("cgpo.safety:_registered", "cgpo.safety:_registered_many")
        for name, (one, many) in names.items():
            if name not in gymnasium.registry:
                gymnasium.register(
                    id=name,
                    entry_point=one,
                    vector_entry_point=many,
                    max_episode_steps=task["horizon"],
                    kwargs={"task": task["name"]},
                )


class _WhenImported(importlib.abc.MetaPathFinder):
    """Finds nothing itself, and has Gymnasium hear of us once it is imported."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "gymnasium":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            sys.meta_path.insert(0, self)
            return None
        run = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            run(module)
            _register_all()

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def register_now_or_later() -> None:
    if "gymnasium" in sys.modules:
        _register_all()
    else:
        sys.meta_path.insert(0, _WhenImported())
