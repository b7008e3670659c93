"""What the methods of a task are given: its state, and random numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cgpo._array import Array, entries_of, traced_source
from cgpo._errors import Error


class State(Array):
    """The state of a task without a robot, with what the moment has beside it: time, step, previous_action.

    >>> import cgpo
    >>> class Late(cgpo.Task):
    ...     actions, horizon, period = 1, 10, 0.1
    ...     def reset(self, random):
    ...         return [0.0]
    ...     def step(self, state, action):
    ...         return state + action
    ...     def observe(self, state):
    ...         return [state[0], state.time]
    ...     def reward(self, before, action, after):
    ...         return -cgpo.square(action[0] - before.previous_action[0])
    >>> [line for line in Late().definition().splitlines() if line.startswith("observation")]
    ['observation = "[state[0], time]"']
    """

    __slots__ = ("_of",)

    def __init__(self, entries: Any, of: Any) -> None:
        super().__init__(entries)
        self._of = of

    def _beside(self, name: str, size: Any = None) -> Any:
        trace, moment, _ = self._of
        return traced_source(trace, moment, name, size)

    @property
    def time(self) -> Array:
        """Seconds since the start of the episode; the task needs a period.

        >>> import cgpo
        >>> class Until(cgpo.Task):
        ...     actions, horizon, period = 1, 10, 0.1
        ...     reset = lambda self, random: [0.0]
        ...     step = lambda self, state, action: state
        ...     observe = lambda self, state: [1.0 - state.time]
        ...     reward = lambda self, before, action, after: 0.0
        >>> "observation = \\"[1.0 - time]\\"" in Until().definition()
        True
        """
        return self._beside("time")

    @property
    def step(self) -> Array:
        """Steps since the start of the episode.

        >>> import cgpo
        >>> class Counting(cgpo.Task):
        ...     actions, horizon = 1, 10
        ...     reset = lambda self, random: [0.0]
        ...     step = lambda self, state, action: state
        ...     observe = lambda self, state: [state.step / 10]
        ...     reward = lambda self, before, action, after: 0.0
        >>> "observation = \\"[step / 10.0]\\"" in Counting().definition()
        True
        """
        return self._beside("step")

    @property
    def previous_action(self) -> Array:
        """What the policy chose for the step before, 0 at the start; in `observe`: what it chose last.

        >>> import cgpo
        >>> class Remembering(cgpo.Task):
        ...     actions, horizon = 1, 10
        ...     reset = lambda self, random: [0.0]
        ...     step = lambda self, state, action: state
        ...     observe = lambda self, state: state.previous_action
        ...     reward = lambda self, before, action, after: 0.0
        >>> "observation = \\"[previous_action[0]]\\"" in Remembering().definition()
        True
        """
        return self._beside("previous_action", self._of[2])


class _NotDrawn(Error, AttributeError):
    """There is no such method; Python's hasattr asks, too."""


_INSTEAD = {
    "standard_normal": "random.normal(size=...)",
    "randn": "random.normal(size=...)",
    "random": "random.uniform(size=...)",
    "rand": "random.uniform(size=...)",
    "integers": "cgpo.floor(random.uniform(low, high))",
    "randint": "cgpo.floor(random.uniform(low, high))",
    "choice": "cgpo.where(random.uniform() < 0.5, a, b)",
}


class Random:
    """Numbers that are drawn anew for each start: what `reset` gets. NumPy's generators have the same methods.

    >>> import cgpo, numpy as np
    >>> class Drawn(cgpo.Task):
    ...     actions, horizon = 1, 10
    ...     def reset(self, random):
    ...         return [*random.uniform(-1.0, 1.0, 2), random.normal(0.0, 0.1)]
    ...     def step(self, state, action):
    ...         return state
    ...     def observe(self, state):
    ...         return state
    ...     def reward(self, before, action, after):
    ...         return 0.0
    >>> len(Drawn().reset(np.random.default_rng(1)))
    3
    """

    def __init__(self, trace: Any = None) -> None:
        self._trace = trace
        self._draws: list[tuple[str, str, list[Any], int | None]] = []  # (name, function, bounds, size)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"Random has no attribute {name!r}")
        instead = f"; {_INSTEAD[name]} does it" if name in _INSTEAD else ""
        raise _NotDrawn(f"random.{name}: a start draws with random.uniform and random.normal{instead}")

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Evenly between low and high, which may be arrays; size: how many.

        >>> import cgpo
        >>> cgpo.Random().uniform(-1.0, 1.0, size=3).shape
        (3,)
        """
        return self._draw("uniform", low, high, size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Of a normal distribution with this mean and deviation; size: how many.

        >>> import cgpo
        >>> cgpo.Random().normal(scale=0.1, size=(2, 2)).shape
        (2, 2)
        """
        return self._draw("normal", loc, scale, size)

    def _draw(self, function: Any, first: Any, second: Any, size: Any) -> Any:
        bounds = [entries_of(first), entries_of(second)]
        try:
            shape = np.broadcast_shapes(*(b.shape for b in bounds)) if size is None else np.empty(size).shape
            spread = [np.broadcast_to(b, shape) for b in bounds]
        except (ValueError, TypeError):
            raise Error(
                f"random.{function}: bounds of shapes {bounds[0].shape} and {bounds[1].shape} do not fit size {size}"
            ) from None
        count = math.prod(shape)
        if all(b.ndim == 0 for b in bounds) and shape != () and count > 0:
            return np.reshape(self._take(function, [b[()] for b in bounds], count), shape)
        drawn = [self._take(function, [b[place] for b in spread], None) for place in np.ndindex(shape)]
        return np.reshape(np.stack(drawn), shape) if drawn else np.empty(shape)

    def _take(self, function: Any, bounds: Any, size: Any) -> Any:
        name = f"_d{len(self._draws) + 1}"
        self._draws.append((name, function, bounds, size))
        return traced_source(self._trace, "start", name, size)
