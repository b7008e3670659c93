"""Many environments of a task as Stable-Baselines3 takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from cgpo.environments import VectorEnvironment

try:
    from stable_baselines3.common.vec_env import VecEnv as _VecEnv
except ImportError:
    raise ImportError("cgpo.sb3 needs Stable-Baselines3: pip install stable-baselines3") from None

__all__ = ["VecEnv"]


class VecEnv(_VecEnv):
    """So many environments of a task as one `VecEnv` of Stable-Baselines3, stepped together.

    Arguments are those of `cgpo.environments.VectorEnvironment`. The info of each environment has `cost` and `costs`, and
    at an episode's end `terminal_observation` and `TimeLimit.truncated`.

    >>> import cgpo
    >>> environments = cgpo.sb3.VecEnv("cartpole", 16)
    >>> environments.reset().shape
    (16, 4)
    """

    def __init__(self, task: Any, num_envs: int = 1, **arguments: Any) -> None:
        self.environments = VectorEnvironment(task, num_envs, **{**arguments, "autoreset_mode": "SameStep"})
        self._attributes: dict[str, list[Any]] = {"render_mode": [None] * num_envs}
        self._actions: Any = None
        super().__init__(num_envs, self.environments.single_observation_space, self.environments.single_action_space)

    def reset(self) -> np.ndarray:
        """Begins an episode in every environment; seeds are those that `seed` was given.

        >>> import cgpo
        >>> environments = cgpo.sb3.VecEnv("cartpole", 2)
        >>> _ = environments.seed(1)
        >>> bool((environments.reset()[1] == cgpo.make("cartpole").reset(seed=2)[0]).all())
        True
        """
        seeds = None if all(seed is None for seed in self._seeds) else self._seeds
        observations, _ = self.environments.reset(seed=seeds)
        self._reset_seeds()
        self._reset_options()
        self.reset_infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        """Takes the actions of the step that `step_wait` does.

        >>> import cgpo, numpy
        >>> environments = cgpo.sb3.VecEnv("cartpole", 2)
        >>> _ = environments.reset()
        >>> environments.step_async(numpy.zeros((2, 1)))
        >>> environments.step_wait()[1].shape
        (2,)
        """
        self._actions = actions

    def step_wait(self) -> Any:
        """Observations, rewards, whether episodes are over, and a dict for each environment.

        >>> import cgpo, numpy
        >>> environments = cgpo.sb3.VecEnv("function", 2, max_episode_steps=1)
        >>> _ = environments.reset()
        >>> observations, rewards, over, infos = environments.step(numpy.zeros((2, 1)))
        >>> sorted(infos[0])
        ['TimeLimit.truncated', 'cost', 'costs', 'diverged', 'terminal_observation']
        """
        observations, rewards, terminated, truncated, infos = self.environments.step(self._actions)
        over = terminated | truncated
        names = list(self.environments.limits)
        by_name = zip(*(infos["costs"][name].tolist() for name in names)) if names else [()] * self.num_envs
        each = [
            {"cost": cost, "costs": dict(zip(names, costs)), "diverged": diverged}
            for cost, costs, diverged in zip(infos["cost"].tolist(), by_name, infos["diverged"].tolist())
        ]
        for i in np.flatnonzero(over):
            each[i]["terminal_observation"] = infos["final_obs"][i]
            each[i]["TimeLimit.truncated"] = bool(truncated[i])
        return observations, rewards.astype(np.float32), over, each

    def close(self) -> None:
        """Nothing has to be closed.

        >>> import cgpo
        >>> cgpo.sb3.VecEnv("function", 2).close()
        """

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """What each environment has under a name; those that were not set are of all environments together.

        >>> import cgpo
        >>> cgpo.sb3.VecEnv("halfcheetah", 2).get_attr("limits")
        [{'speed': 400.0}, {'speed': 400.0}]
        """
        if attr_name in self._attributes:
            return [self._attributes[attr_name][i] for i in self._get_indices(indices)]
        return [getattr(self.environments, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Keeps a value under a name for each environment; nothing else looks at it.

        >>> import cgpo
        >>> environments = cgpo.sb3.VecEnv("function", 2)
        >>> environments.set_attr("note", "mine")
        >>> environments.get_attr("note")
        ['mine', 'mine']
        """
        values = self._attributes.setdefault(attr_name, [None] * self.num_envs)
        for i in self._get_indices(indices):
            values[i] = value

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """The environments are one object, so no method is one environment's alone.

        >>> import cgpo
        >>> try:
        ...     cgpo.sb3.VecEnv("function", 2).env_method("jump")
        ... except NotImplementedError as error:
        ...     print(error)
        cgpo.sb3.VecEnv steps all environments together: there is no 'jump' of one of them
        """
        raise NotImplementedError(
            f"cgpo.sb3.VecEnv steps all environments together: there is no '{method_name}' of one of them"
        )

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """No environment is wrapped.

        >>> import cgpo, gymnasium
        >>> cgpo.sb3.VecEnv("function", 2).env_is_wrapped(gymnasium.Wrapper)
        [False, False]
        """
        return [False for _ in self._get_indices(indices)]
