"""Tasks as those of Safety-Gymnasium: a step returns six things, the cost is the third."""

from __future__ import annotations

import re
from typing import Any

from cgpo import _lists, _registration, environments
from cgpo.environments import Environment, VectorEnvironment

__all__ = ["SafetyEnvironment", "SafetyVectorEnvironment", "make", "make_vec"]


def _task(name: Any) -> Any:
    """The task that a name of Gymnasium or Safety-Gymnasium means; what is none of these stays."""
    if not isinstance(name, str):
        return name
    plain = re.sub(r"^cgpo/|-v0$|Gymnasium(?=-v1$)", "", name).lower()
    for task in _lists.tasks():
        if name == task["name"] or plain in (task["name"].lower(), _registration.title(task["name"]).lower()):
            return task["name"]
    return name


def _arguments(task: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Those given; of a task of Safety-Gymnasium's own with the range of its actions."""
    if not isinstance(task, str) or _registration.gymnasium_name(task) is None:
        return given
    return {"action_range": _registration.action_range(task), **given}


def _registered(task: str, **arguments: Any) -> Environment:
    """What `gymnasium.make` calls for a name of Safety-Gymnasium's own."""
    return environments._registered(task, **_arguments(task, arguments))


def _registered_many(task: str, num_envs: int = 1, **arguments: Any) -> VectorEnvironment:
    """The same of `gymnasium.make_vec`."""
    return VectorEnvironment(task, num_envs, **_arguments(task, arguments))


class SafetyEnvironment(Environment):
    """An `Environment` whose step returns (observation, reward, cost, terminated, truncated, info).

    >>> import cgpo
    >>> environment = cgpo.safety.make("HalfCheetah")
    >>> isinstance(environment, cgpo.safety.SafetyEnvironment)
    True
    """

    def step(self, action: Any) -> Any:
        """One step: observation, reward, cost, terminated, truncated, info.

        >>> import cgpo
        >>> environment = cgpo.safety.make("Ant")
        >>> _ = environment.reset(seed=1)
        >>> observation, reward, cost, terminated, truncated, info = environment.step(environment.action_space.sample())
        >>> cost == info["cost"]
        True
        """
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, info["cost"], terminated, truncated, info


class SafetyVectorEnvironment(VectorEnvironment):
    """A `VectorEnvironment` whose step returns (observations, rewards, costs, terminated, truncated, infos).

    Episodes begin within the step that ended the last one, as in Safety-Gymnasium, whose `final_observation` is there
    beside `final_obs`.

    >>> import cgpo
    >>> environments = cgpo.safety.make_vec("HalfCheetah", 16)
    >>> environments.metadata["autoreset_mode"].value
    'SameStep'
    """

    def __init__(self, task: Any, num_envs: int = 1, **arguments: Any) -> None:
        super().__init__(task, num_envs, **{"autoreset_mode": "SameStep", **arguments})

    def step(self, actions: Any) -> Any:
        """One step of every environment: observations, rewards, costs, terminated, truncated, infos.

        >>> import cgpo
        >>> environments = cgpo.safety.make_vec("Ant", 16)
        >>> _ = environments.reset(seed=1)
        >>> len(environments.step(environments.action_space.sample()))
        6
        """
        observations, rewards, terminated, truncated, infos = super().step(actions)
        if "final_obs" in infos:
            infos["final_observation"], infos["_final_observation"] = infos["final_obs"], infos["_final_obs"]
        return observations, rewards, infos["cost"], terminated, truncated, infos


def make(task: Any, **arguments: Any) -> SafetyEnvironment:
    """A task by its name here or in Gymnasium ("ant", "Ant", "cgpo/Ant-v0"), with the step of Safety-Gymnasium.

    Those of Safety-Gymnasium itself ("SafetyAntVelocity-v1") have its range of actions, too. Arguments are those of
    `cgpo.environments.Environment`.

    >>> import cgpo
    >>> cgpo.safety.make("cgpo/HalfCheetah-v0").limits
    {'speed': 400.0}
    >>> cgpo.safety.make("SafetyHopperVelocity-v1").limits
    {'speeding': 25.0}
    """
    named = _task(task)
    return SafetyEnvironment(named, **_arguments(named, arguments))


def make_vec(task: Any, num_envs: int = 1, **arguments: Any) -> SafetyVectorEnvironment:
    """So many of them, stepped together; arguments are those of `cgpo.environments.VectorEnvironment`.

    >>> import cgpo
    >>> cgpo.safety.make_vec("HalfCheetah", 8).num_envs
    8
    """
    named = _task(task)
    return SafetyVectorEnvironment(named, num_envs, **_arguments(named, arguments))
