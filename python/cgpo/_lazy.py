"""What needs packages that cgpo does not depend on: imported when it is first asked for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cgpo._values import TaskLike
    from cgpo.environments import Environment, VectorEnvironment

MODULES = ("environments", "safety", "sb3", "torch")


def module(name: str) -> Any:
    """The module of this name, for the package's __getattr__."""
    if name in MODULES:
        try:
            return importlib.import_module(f"cgpo.{name}")
        except ImportError as error:
            # hasattr(cgpo, "torch") asks whether it is there; `import cgpo.torch` has the error itself.
            raise AttributeError(str(error)) from error
    raise AttributeError(f"module 'cgpo' has no attribute '{name}'")


def make(task: TaskLike, **arguments: Any) -> Environment:
    """A task as an environment of Gymnasium: a name, the path of a task file, or a task of one's own.

    Arguments are those of `cgpo.environments.Environment`.

    >>> import cgpo
    >>> environment = cgpo.make("cartpole", max_episode_steps=50)
    >>> environment.observation_space.shape
    (4,)
    """
    from cgpo.environments import Environment

    return Environment(task, **arguments)


def make_vec(task: TaskLike, num_envs: int = 1, **arguments: Any) -> VectorEnvironment:
    """So many environments of a task, stepped together: a `gymnasium.vector.VectorEnv`.

    Arguments are those of `cgpo.environments.VectorEnvironment`.

    >>> import cgpo
    >>> environments = cgpo.make_vec("halfcheetah", 1024, autoreset_mode="SameStep")
    >>> environments.num_envs, environments.metadata["autoreset_mode"].value
    (1024, 'SameStep')
    """
    from cgpo.environments import VectorEnvironment

    return VectorEnvironment(task, num_envs, **arguments)
