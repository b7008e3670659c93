"""Tells Gymnasium of every task, as soon as both are imported, whichever comes first; cgpo does not import it."""

from __future__ import annotations

import importlib.abc
import importlib.util
import json
import re
import sys
from typing import Any

from cgpo import _core

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


def register() -> None:
    """Registers what is not registered yet; a task that is nothing without its settings is left out."""
    import gymnasium

    for task in json.loads(_core.tasks_json())["tasks"]:
        if task.get("horizon") is None:
            continue
        names = {identifier(task["name"]): {"task": task["name"]}}
        if theirs := gymnasium_name(task["name"]):
            names[theirs] = {"task": task["name"], "action_range": action_range(task["name"])}
        for name, arguments in names.items():
            if name not in gymnasium.registry:
                gymnasium.register(
                    id=name,
                    entry_point="cgpo.environments:_registered",
                    vector_entry_point="cgpo.environments:VectorEnvironment",
                    max_episode_steps=task["horizon"],
                    kwargs=arguments,
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
            register()

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def register_now_or_later() -> None:
    if "gymnasium" in sys.modules:
        register()
    else:
        sys.meta_path.insert(0, _WhenImported())
