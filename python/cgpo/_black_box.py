"""Environments of Gymnasium as tasks: black boxes, of which training knows reset and step."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cgpo import _core, _values
from cgpo._errors import Error

_LETTERS = r"[A-Za-z0-9_.-]+"


class _Instances:
    """The environments of one training, by number, each made when it is first asked for."""

    def __init__(self, box: BlackBox) -> None:
        self._box = box
        self._made: dict[int, Any] = {}
        self._steps: dict[int, int] = {}
        self._over: dict[int, bool] = {}

    def __del__(self) -> None:
        for made in self._made.values():
            made.close()

    def reset(self, first: int, seeds: Sequence[int], observations: np.ndarray) -> None:
        for i, (seed, own) in enumerate(zip(seeds, observations), start=first):
            if i not in self._made:
                self._made[i] = self._box.make()
            seen, _ = self._made[i].reset(seed=seed % 2**31)
            own[:] = self._box.flat(seen)
            self._steps[i], self._over[i] = 0, False

    def step(self, first: int, actions: np.ndarray, results: np.ndarray) -> None:
        box = self._box
        for i, (action, own) in enumerate(zip(actions, results), start=first):
            if self._over[i]:  # nobody looks at what follows
                own[:] = 0
                continue
            seen, reward, terminated, truncated, info = self._made[i].step(box.scaled(action))
            self._steps[i] += 1
            # Its own time limit is the horizon; whatever else cuts an episode short ends it.
            ended = terminated or (truncated and self._steps[i] < box.horizon)
            self._over[i] = bool(terminated or truncated)
            own[: box.observations] = box.flat(seen)
            own[box.observations :] = [reward, *(box.cost(name, info) for name in box.costs), ended]


class BlackBox:
    """An environment of Gymnasium as a task, to be given to `cgpo.train`; `cgpo.black_box` makes one.

    >>> import cgpo, gymnasium
    >>> box = cgpo.black_box(lambda: gymnasium.make("Pendulum-v1"), horizon=50)
    >>> box.name, box.observations, box.actions, box.horizon
    ('Pendulum-v1', 3, 1, 50)
    """

    def __init__(self, make: Callable[[], Any], costs: Any, horizon: int | None, name: str | None) -> None:
        try:
            import gymnasium
        except ImportError:
            raise ImportError("cgpo.black_box needs gymnasium: pip install gymnasium") from None
        if not callable(make):
            raise Error(
                "a black box needs a function that makes an environment, since many train at the same time: "
                f"cgpo.black_box(lambda: gymnasium.make(...)), not {make!r}"
            )
        self.make = make
        first = make()
        if not isinstance(first, gymnasium.Env):
            raise Error(f"a black box is made by a function that returns a gymnasium.Env, not {type(first).__name__}")
        self._read_spaces(gymnasium, first)
        spec = first.spec
        if horizon is None:
            horizon = spec.max_episode_steps if spec is not None else None
            if not horizon:
                raise Error("the environment says no max_episode_steps: say horizon, the number of steps of an episode")
        #: Steps of an episode.
        self.horizon = _values.whole("horizon", horizon, 1, 2**31 - 1)
        self._unlimited = not isinstance(costs, Mapping)
        #: The limit of each cost by its name; 0, if none was said.
        self.costs = self._find_costs(first, costs)
        #: What it is called in runs and in `cgpo.tasks()`.
        self.name = name or (spec.id if spec is not None else type(first.unwrapped).__name__)
        self.name = self.name.split("/")[-1]
        if not re.fullmatch(_LETTERS, self.name):
            raise Error(f"name may have letters, digits, '_', '-' and '.', not {self.name!r}")
        first.close()
        _core.add_black_box(
            name=self.name,
            summary="an environment of Gymnasium",
            observations=self.observations,
            actions=self.actions,
            horizon=self.horizon,
            costs=list(self.costs.items()),
            make=lambda: _Instances(self),
        )

    def _read_spaces(self, gymnasium: Any, environment: Any) -> None:
        space, actions = environment.observation_space, environment.action_space
        if not (isinstance(actions, gymnasium.spaces.Box) and np.isfinite([actions.low, actions.high]).all()):
            raise Error(f"actions must be numbers within bounds (a Box), not {actions}")
        if not space.is_np_flattenable:
            raise Error(f"observations must be numbers that can stand in a row, not {space}")
        self._flatten = lambda seen: gymnasium.spaces.flatten(space, seen)
        self._shape, self._dtype = actions.shape, actions.dtype
        self._low, self._high = actions.low.astype(float), actions.high.astype(float)
        self.observations, self.actions = gymnasium.spaces.flatdim(space), int(np.prod(actions.shape))

    def _find_costs(self, environment: Any, costs: Any) -> dict[str, float]:
        if isinstance(costs, Mapping):
            return dict(zip(map(str, costs), _values.limited({}, limits=costs)["limits"]))
        if costs is not None:
            return {name: 0.0 for name in _values.limited({}, costs=costs)["costs"]}
        environment.reset(seed=0)
        info = environment.step(self.scaled(np.zeros(self.actions)))[-1]
        names = info["costs"] if isinstance(info.get("costs"), Mapping) else [n for n in ("cost",) if n in info]
        return {name: 0.0 for name in names}

    def demand_limits(self, settings: Mapping[str, Any]) -> None:
        """An error if it has costs, and neither it nor these settings say their limits.

        >>> import cgpo, gymnasium
        >>> cgpo.black_box(lambda: gymnasium.make("Pendulum-v1"), costs={"heat": 3}).demand_limits({})
        """
        names = settings.get("costs", list(self.costs))
        if self._unlimited and names and "limits" not in settings:
            example = ", ".join(f"{name!r}: 10.0" for name in names)
            raise Error(
                f"task {self.name}: what may its costs be? cgpo.black_box(..., costs={{{example}}}) or limits={{{example}}} in "
                "training bounds their sums over an episode; costs=[]: there are none"
            )

    def flat(self, observation: Any) -> np.ndarray:
        """An observation as a row of numbers.

        >>> import cgpo, gymnasium
        >>> box = cgpo.black_box(lambda: gymnasium.make("Pendulum-v1"))
        >>> box.flat([1.0, 0.0, 0.5]).tolist()
        [1.0, 0.0, 0.5]
        """
        return self._flatten(np.asarray(observation) if isinstance(observation, (list, tuple)) else observation)

    def scaled(self, action: np.ndarray) -> np.ndarray:
        """From an action within ±1 to one within the environment's bounds.

        >>> import cgpo, gymnasium, numpy
        >>> box = cgpo.black_box(lambda: gymnasium.make("Pendulum-v1"))
        >>> box.scaled(numpy.array([0.5])).tolist()
        [1.0]
        """
        return (self._low + 0.5 * (action.reshape(self._shape) + 1) * (self._high - self._low)).astype(self._dtype)

    def cost(self, name: str, info: dict[str, Any]) -> float:
        """What a step cost, by the name of a cost: `info["costs"][name]`, or `info[name]`.

        >>> import cgpo, gymnasium
        >>> box = cgpo.black_box(lambda: gymnasium.make("Pendulum-v1"), costs={"heat": 3})
        >>> box.cost("heat", {"heat": 0.5}), box.cost("heat", {"costs": {"heat": 0.25}})
        (0.5, 0.25)
        """
        by_name = info.get("costs")
        if isinstance(by_name, Mapping) and name in by_name:
            return float(by_name[name])
        if name not in info:
            raise Error(f"info has no cost '{name}'; it has {', '.join(map(str, info)) or 'nothing'}")
        return float(info[name])

    def __cgpo_task__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<BlackBox {self.name}: {self.observations} observations, {self.actions} actions, costs {self.costs}>"


def black_box(
    make: Callable[[], Any], *, costs: Any = None, horizon: int | None = None, name: str | None = None
) -> BlackBox:
    """An environment of Gymnasium as a task for the algorithms that need no derivatives: mb-cgpo, ppo-lag, cpo, ...

    make: called for each environment that trains at the same time. costs: {name: limit}, where the name is one of
    `info["costs"]` or of `info`; those that are found there, unless it is said, and then `cgpo.train` must be given limits.
    horizon: steps of an episode, if the environment does not say `max_episode_steps`. The name is that of its spec.

    `cgpo.train` takes `make` itself, too. To load a run of it in another process, make the black box there first.

    >>> import cgpo, gymnasium
    >>> class Warm(gymnasium.Wrapper):
    ...     def step(self, action):
    ...         observation, reward, terminated, truncated, info = super().step(action)
    ...         return observation, reward, terminated, truncated, {**info, "cost": float(action[0] ** 2)}
    >>> box = cgpo.black_box(lambda: Warm(gymnasium.make("Pendulum-v1")), costs={"cost": 20}, horizon=20)
    >>> run = cgpo.train(box, "ppo-lag", iterations=2, environments=4, out="box", progress=False)
    >>> run.log["costs"].shape
    (2, 1)
    """
    return BlackBox(make, costs, horizon, name)
