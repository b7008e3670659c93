"""Every task as an environment of Gymnasium: one by itself, or many that are stepped together."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from cgpo import _core, _values
from cgpo._errors import Error

if TYPE_CHECKING:
    from cgpo._values import TaskLike

try:
    import gymnasium
    from gymnasium.vector import AutoresetMode
    from gymnasium.vector.utils import batch_space
except ImportError:
    raise ImportError("environments of cgpo need gymnasium 1.1 or later: pip install gymnasium") from None

__all__ = ["Environment", "VectorEnvironment"]

_SEED = 2**64  # seeds are of 64 bits


def _no_render_mode(mode: str | None) -> None:
    # Stable-Baselines3 asks for rgb_array whatever it makes, and Gymnasium warns of a mode that there is not.
    if mode is not None:
        warnings.warn(f"render_mode is not {mode!r} but None: {_NO_PICTURES}", stacklevel=3)


_NO_PICTURES = "environments of cgpo draw no pictures; Run.report() makes a page on which a policy's episodes run"


def _open(
    task: TaskLike, count: int, settings: dict | None, costs: Any, limits: Any, steps: int | None, mode: AutoresetMode, threads: int
) -> Any:
    if steps is not None:
        steps = _values.whole("max_episode_steps", steps, 0, 2**31 - 1)
    return _core.Environments(
        task=_values.needed(task),
        settings=_values.flat(_values.limited(settings, costs, limits)),
        count=count,
        horizon=steps,
        autoreset=mode.value,
        threads=_values.threads(threads),
    )


def _spaces(core: Any, action_range: float) -> tuple[gymnasium.spaces.Box, gymnasium.spaces.Box]:
    if not (np.isscalar(action_range) and 0.0 < action_range < np.inf):
        raise Error(f"action_range must be a number above 0, not {action_range!r}")
    return (
        gymnasium.spaces.Box(-np.inf, np.inf, (core.observations,), np.float32),
        gymnasium.spaces.Box(-action_range, action_range, (core.actions,), np.float32),
    )


def _again(kind: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    return kind(*arguments, **named)


class _Common:
    """What one environment and many have in common."""

    _core: Any
    _made_of: tuple[tuple[Any, ...], dict[str, Any]]

    def __reduce__(self) -> Any:
        # A copy is made of the same arguments, and begins with a reset, as Gymnasium's own that are copied.
        spec = getattr(self, "spec", None)  # of Gymnasium's making; one with a function in it cannot be kept
        keeps = spec is not None and isinstance(spec.entry_point, str)
        return _again, (type(self), *self._made_of), {"spec": spec} if keeps else None

    @property
    def limits(self) -> dict[str, float]:
        """The limit of each cost by its name: the sum over an episode, in the mean, shall not be above it.

        >>> import cgpo
        >>> cgpo.make("halfcheetah").limits
        {'speed': 400.0}
        """
        return dict(zip(self._core.costs, self._core.limits))

    @property
    def horizon(self) -> int:
        """After how many steps an episode is truncated; 0: never.

        >>> import cgpo
        >>> cgpo.make("halfcheetah").horizon
        200
        """
        return self._core.horizon

    def render(self) -> Any:
        """Draws no picture, and says so.

        >>> import cgpo
        >>> try:
        ...     cgpo.make("ant").render()
        ... except cgpo.Error as error:
        ...     print(str(error)[:41])
        environments of cgpo draw no pictures; Ru
        """
        raise Error(_NO_PICTURES)


class Environment(_Common, gymnasium.Env):
    """A task as a `gymnasium.Env`: `gymnasium.make("cgpo/Ant-v0")` gives one, and so does `cgpo.make("ant")`.

    Actions are clipped to ±1, which is the range of each, or to ±`action_range`, which then stands for ±1. An episode is truncated after `max_episode_steps` (the task's
    horizon; 0: never). `info["cost"]` is what a step cost, `info["costs"]` the same by name, of the costs that have
    limits; `costs` and `limits` choose others. Where the simulation diverged the episode is terminated, the last
    observation that was finite is shown, and `info["diverged"]` is True.

    >>> import cgpo
    >>> environment = cgpo.make("halfcheetah")
    >>> observation, info = environment.reset(seed=1)
    >>> action = environment.action_space.sample()
    >>> observation, reward, terminated, truncated, info = environment.step(action)
    >>> sorted(info), list(info["costs"])
    (['cost', 'costs', 'diverged'], ['speed'])
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        task: TaskLike,
        *,
        settings: dict[str, Any] | None = None,
        costs: Any = None,
        limits: Any = None,
        max_episode_steps: int | None = None,
        action_range: float = 1.0,
        render_mode: str | None = None,
    ) -> None:
        _no_render_mode(render_mode)
        given = {"settings": settings, "costs": costs, "limits": limits, "max_episode_steps": max_episode_steps}
        self._made_of = ((task,), given)
        self._core = _open(task, 1, settings, costs, limits, max_episode_steps, AutoresetMode.DISABLED, 1)
        self._names = self._core.costs
        self._seeded = False
        self.observation_space, self.action_space = _spaces(self._core, action_range)
        self._range = np.float32(action_range)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Begins an episode: with a seed the first of that seed, without one the next.

        >>> import cgpo
        >>> environment = cgpo.make("cartpole")
        >>> first, _ = environment.reset(seed=1)
        >>> other, _ = environment.reset()
        >>> again, _ = environment.reset(seed=1)
        >>> bool((first == again).all()), bool((first == other).all())
        (True, False)
        """
        super().reset(seed=seed)
        seeds = None
        if seed is not None or not self._seeded:
            seeds = [self.np_random_seed % _SEED]
        self._seeded = True
        return self._core.reset(seeds, None)[0], {}

    def step(self, action: Any) -> Any:
        """One step: observation, reward, terminated, truncated, info.

        >>> import cgpo
        >>> environment = cgpo.make("function")
        >>> _ = environment.reset(seed=1)
        >>> observation, reward, terminated, truncated, info = environment.step([0.5])
        >>> info["cost"] == info["costs"]["height"]
        True
        """
        if not self._seeded:
            raise Error("reset the environment before its first step")
        actions = np.asarray(action, dtype=np.float32).reshape(1, -1) / self._range
        observations, rewards, costs, terminated, truncated, diverged, _, _ = self._core.step(actions, False)
        info = {
            "cost": float(costs.sum()),
            "costs": {name: float(cost[0]) for name, cost in zip(self._names, costs)},
            "diverged": bool(diverged[0]),
        }
        return observations[0], float(rewards[0]), bool(terminated[0]), bool(truncated[0]), info

    @property
    def state(self) -> np.ndarray:
        """The state of the simulation. Who sets it goes on with the episode from there.

        >>> import cgpo
        >>> environment = cgpo.make("cartpole")
        >>> _ = environment.reset(seed=1)
        >>> environment.state = [0.5, 0, 0, 0]
        >>> environment.state
        array([0.5, 0. , 0. , 0. ], dtype=float32)
        """
        return self._core.states()[0]

    @state.setter
    def state(self, value: Any) -> None:
        self._core.set_states(np.asarray(value, dtype=np.float32).reshape(1, -1))


def _mode(mode: AutoresetMode | str) -> AutoresetMode:
    wanted = mode.value if isinstance(mode, AutoresetMode) else str(mode)
    for known in AutoresetMode:
        if re.sub("_", "", wanted).lower() == known.value.lower():
            return known
    raise Error(f"autoreset_mode must be NextStep, SameStep or Disabled, not {mode!r}")


class VectorEnvironment(_Common, gymnasium.vector.VectorEnv):
    """Many environments of a task as one `gymnasium.vector.VectorEnv`; `cgpo.make_vec` gives one.

    They are stepped by `threads` threads (0: all cores), and what comes out does not depend on their number. All modes of
    `autoreset_mode` are there: "NextStep" as Gymnasium has it by default, "SameStep" with `final_obs` and `final_info` in
    the infos, "Disabled" with `reset(options={"reset_mask": ...})`. What else there is to say is that of `Environment`.

    >>> import cgpo
    >>> environments = cgpo.make_vec("ant", 64)
    >>> observations, infos = environments.reset(seed=1)
    >>> observations, rewards, terminated, truncated, infos = environments.step(environments.action_space.sample())
    >>> rewards.shape, infos["cost"].shape, list(environments.limits)
    ((64,), (64,), ['speed'])
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        task: TaskLike,
        num_envs: int = 1,
        *,
        settings: dict[str, Any] | None = None,
        costs: Any = None,
        limits: Any = None,
        max_episode_steps: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int = 0,
        action_range: float = 1.0,
        render_mode: str | None = None,
    ) -> None:
        _no_render_mode(render_mode)
        given = {"settings": settings, "costs": costs, "limits": limits, "max_episode_steps": max_episode_steps}
        self._made_of = ((task, num_envs), {**given, "autoreset_mode": autoreset_mode, "threads": threads})
        self.num_envs = _values.whole("num_envs", num_envs, 1, 2**24)
        self._autoreset = _mode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self._autoreset}
        self._core = _open(task, self.num_envs, settings, costs, limits, max_episode_steps, self._autoreset, threads)
        self._names = self._core.costs
        self._seeded = False
        self.single_observation_space, self.single_action_space = _spaces(self._core, action_range)
        self._range = np.float32(action_range)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def _seeds(self, seed: Any) -> list[int | None] | None:
        if seed is None and self._seeded:
            return None
        if seed is None or np.ndim(seed) == 0:
            if seed is not None:
                seed = _values.seed(seed)
            gymnasium.vector.VectorEnv.reset(self, seed=seed)
            first = self.np_random_seed or 0
            return [(first + i) % _SEED for i in range(self.num_envs)]
        return [None if one is None else _values.seed(one) for one in seed]

    def _mask(self, options: dict[str, Any] | None) -> np.ndarray | None:
        mask = (options or {}).get("reset_mask")
        if mask is None:
            return None
        if not (isinstance(mask, np.ndarray) and mask.dtype == np.bool_ and mask.shape == (self.num_envs,) and mask.any()):
            raise Error(f"reset_mask must be a NumPy array of {self.num_envs} bools, one of them True at least")
        return np.ascontiguousarray(mask)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Begins an episode in every environment, or in those where `options["reset_mask"]` is True.

        With a seed environment i has seed + i, or the one that a list gives it, and the same episodes as one by itself.

        >>> import cgpo
        >>> import numpy as np
        >>> environments = cgpo.make_vec("cartpole", 2, autoreset_mode="Disabled")
        >>> before, _ = environments.reset(seed=1)
        >>> after, _ = environments.reset(options={"reset_mask": np.array([True, False])})
        >>> (before == after).all(axis=1)
        array([False,  True])
        """
        mask = self._mask(options)
        if mask is not None and not self._seeded and not mask.all():
            raise Error("reset_mask is for later resets: the first one begins every environment")
        observations = self._core.reset(self._seeds(seed), mask)
        self._seeded = True
        return observations, {}

    def _infos(self, cost: np.ndarray, costs: np.ndarray, diverged: np.ndarray, there: np.ndarray) -> dict[str, Any]:
        by_name: dict[str, Any] = {}
        for name, one in zip(self._names, costs):
            by_name[name], by_name[f"_{name}"] = one, there
        infos = {"cost": cost, "_cost": there, "costs": by_name, "_costs": there, "diverged": diverged, "_diverged": there}
        return infos

    def step(self, actions: Any) -> Any:
        """One step of every environment: observations, rewards, terminated, truncated, infos.

        In the infos, `cost` and `costs` are of this step in every mode; `final_info` has them, too.

        >>> import cgpo
        >>> environments = cgpo.make_vec("function", 4, max_episode_steps=1, autoreset_mode="SameStep")
        >>> _ = environments.reset(seed=1)
        >>> *_, truncated, infos = environments.step(environments.action_space.sample())
        >>> truncated.all(), infos["final_obs"][0].shape
        (np.True_, (1,))
        """
        if not self._seeded:
            raise Error("reset the environments before their first step")
        same = self._autoreset == AutoresetMode.SAME_STEP
        actions = np.ascontiguousarray(actions, dtype=np.float32) / self._range
        observations, rewards, costs, terminated, truncated, diverged, stepped, final = self._core.step(actions, same)
        cost = costs.sum(axis=0)
        infos = self._infos(cost, costs, diverged, stepped)
        if same:
            over = terminated | truncated
            if over.any():
                rows = np.full(self.num_envs, None, dtype=object)
                for i in np.flatnonzero(over):
                    rows[i] = final[i]
                infos["final_obs"], infos["_final_obs"] = rows, over
                infos["final_info"] = self._infos(cost * over, costs * over, diverged & over, over)
                infos["_final_info"] = over
        return observations, rewards, terminated, truncated, infos

    @property
    def states(self) -> np.ndarray:
        """The states of the simulations, a row each. Who sets them goes on with the episodes from there.

        >>> import cgpo
        >>> environments = cgpo.make_vec("cartpole", 3)
        >>> _ = environments.reset(seed=1)
        >>> environments.states.shape
        (3, 4)
        """
        return self._core.states()

    @states.setter
    def states(self, value: Any) -> None:
        self._core.set_states(np.ascontiguousarray(value, dtype=np.float32))


def _registered(task: str, **arguments: Any) -> Environment:
    """What `gymnasium.make` calls, which truncates episodes itself."""
    return Environment(task, **{"max_episode_steps": 0, **arguments})
