"""Traced arrays: numbers that are not known yet, with the names and operators of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from cgpo._errors import Error
from cgpo._nodes import Node, Source
from cgpo._several import Several

_numpy: Any = np  # whose functions come back to us, and give arrays of ours

_CANNOT_DECIDE = (
    "a traced value is known only when the task runs, so Python cannot decide by it: cgpo.where(condition, a, b) chooses "
    "between two values; & | ~ stand for and, or, not, cgpo.minimum and cgpo.maximum for min and max"
)

# NumPy's functions by what they do with traced arrays; cgpo._operations fills these.
UFUNCS: dict[Any, Any] = {}  # of numbers, entry by entry
FUNCTIONS: dict[Any, Any] = {}  # of whole arrays
MOVERS: set[Any] = set()  # those that only move entries: NumPy's own do it


def is_traced(value: Any) -> bool:
    """Whether a value, or anything in it, is a traced array."""
    if isinstance(value, Array):
        return True
    if isinstance(value, (list, tuple)):
        return any(is_traced(item) for item in value)
    return isinstance(value, np.ndarray) and value.dtype == object and any(is_traced(item) for item in value.flat)


def _known(number: Any) -> Any:
    # A number that Python has: bool stays what it is.
    return bool(number) if isinstance(number, (bool, np.bool_)) else float(number)


def entries_of(value: Any) -> np.ndarray:
    """What an array-like holds, as an array of Node and float."""
    if isinstance(value, Array):
        return value._entries
    if isinstance(value, (list, tuple)) and is_traced(value):
        parts = [entries_of(item) for item in value]
        if any(part.shape != parts[0].shape for part in parts):
            raise Error(
                f"an array cannot hold parts of different shapes, {' and '.join(shape_words(p.shape) for p in parts)}; "
                "np.concatenate or np.hstack puts vectors one after the other"
            )
        return np.stack(parts) if parts else np.empty(0, dtype=object)
    array = np.asarray(value)
    if array.dtype == object:
        if not is_traced(array):
            raise Error(f"{value!r} is no array of numbers")
        parts = [entries_of(item) for item in array.flat]
        return np.stack(parts).reshape(array.shape + parts[0].shape)
    if array.dtype.kind not in "biuf":
        raise Error(f"{value!r} is no array of numbers")
    entries = np.empty(array.shape, dtype=object)
    flat = entries.reshape(-1)
    for i, number in enumerate(array.reshape(-1)):
        flat[i] = _known(number)
    return entries


def shape_words(shape: Any) -> str:
    return "one number" if shape == () else f"a shape of {shape}"


def _unwrapped(value: Any) -> Any:
    if isinstance(value, Array):
        return value._entries
    if isinstance(value, (list, tuple)) and is_traced(value):
        return type(value)(entries_of(item) for item in value)
    return value


def _wrapped(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_wrapped(item) for item in value)
    return Array(value)


class Array(Several, np.lib.mixins.NDArrayOperatorsMixin):
    """Numbers that are known only when the task runs. NumPy's functions and operators work on it; so do indices.

    A method of a task gets such arrays, and what it makes of them becomes the task. They do not change: what would be
    set is made anew with `cgpo.array` or `np.concatenate`. `v.x`, `v.y`, `v.z` are entries of a short vector.

    >>> import cgpo, numpy as np
    >>> seen = []
    >>> class Seen(cgpo.Task):
    ...     actions, horizon = 1, 10
    ...     def reset(self, random):
    ...         return random.uniform(-1, 1, 3)
    ...     def step(self, state, action):
    ...         seen.append((type(state).__mro__[1].__name__, state.shape, np.sin(state[1:]).shape))
    ...         return state
    ...     def observe(self, state):
    ...         return state
    ...     def reward(self, before, action, after):
    ...         return -np.linalg.norm(after)
    >>> text = Seen().definition()
    >>> seen[0]
    ('Array', (3,), (2,))
    """

    __slots__ = ("_entries",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, entries: Any) -> None:
        if not isinstance(entries, np.ndarray):
            # One entry that NumPy took out of an array.
            alone = np.empty((), dtype=object)
            alone[()] = entries
            entries = alone
        self._entries = entries

    # ---- what NumPy asks -------------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: Any, *inputs: Any, **kwargs: Any) -> Any:
        reducers = {np.add: np.sum, np.multiply: np.prod, np.minimum: np.min, np.maximum: np.max}
        if method == "reduce" and ufunc in reducers:
            return FUNCTIONS[reducers[ufunc]](*inputs, **{"axis": 0, **kwargs})
        # x += y makes a new x; an array of NumPy, which would have to change, cannot.
        if not all(isinstance(out, Array) for out in kwargs.pop("out", ())):
            raise Error(
                "traced numbers cannot be put into an array that is there: np.concatenate or cgpo.array makes one"
            )
        kwargs = {key: value for key, value in kwargs.items() if key not in ("dtype", "casting")}
        if method != "__call__" or ufunc not in UFUNCS or kwargs:
            raise Error(
                f"traced arrays do not know np.{ufunc.__name__}{'' if method == '__call__' else '.' + method}"
                f"{' with ' + next(iter(kwargs)) if kwargs else ''}; they know {_known_names(UFUNCS)}"
            )
        return UFUNCS[ufunc](*inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function in FUNCTIONS:
            return FUNCTIONS[function](*args, **kwargs)
        if function in MOVERS:
            moved = {key: _unwrapped(value) for key, value in kwargs.items()}
            try:
                return _wrapped(function(*map(_unwrapped, args), **moved))
            except ValueError as error:
                raise Error(f"np.{function.__name__}: {error}") from None
        name = f"{function.__module__}.{function.__name__}".replace("numpy.", "np.", 1)
        raise Error(f"traced arrays do not know {name}; they know {_known_names({*FUNCTIONS, *MOVERS})}")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise Error("NumPy's arrays cannot hold traced numbers: cgpo.array([...]), np.stack or np.concatenate can")

    # ---- what Python asks ------------------------------------------------------------------------------------------

    def __bool__(self) -> bool:
        raise Error(_CANNOT_DECIDE)

    def _no_number(self, *ignored: Any) -> Any:
        raise Error(
            "a traced value is known only when the task runs, so it is no number of Python's: functions of cgpo or NumPy "
            "take it (cgpo.sin for math.sin), cgpo.array([...]) holds it, cgpo.floor stands for int, cgpo.where chooses"
        )

    __float__ = __int__ = __index__ = __complex__ = __round__ = __trunc__ = _no_number

    def __format__(self, spec: str) -> str:
        return repr(self) if not spec else self._no_number()

    def __contains__(self, value: Any) -> bool:
        raise Error(_CANNOT_DECIDE)

    def __len__(self) -> int:
        if self.ndim == 0:
            raise Error("one traced number has no length; `x.shape` is () of one")
        return self.shape[0]

    def __iter__(self) -> Any:
        if self.ndim == 0:
            raise Error("one traced number cannot be iterated over")
        return (Array(part) for part in self._entries)

    def __getitem__(self, index: Any) -> Array:
        if is_traced(index):
            raise Error("an index must be known while the task is traced; cgpo.where chooses by a traced value")
        try:
            return Array(self._entries[index])
        except IndexError:
            raise Error(f"[{_index_words(index)}] is not in {shape_words(self.shape)}") from None

    def __setitem__(self, index: Any, value: Any) -> None:
        raise Error("traced arrays do not change: cgpo.array([...]) or np.concatenate makes one with other entries")

    def __repr__(self) -> str:
        return f"<traced, {shape_words(self.shape)}>"

    # ---- shape -----------------------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """How many entries it has along each axis.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v * v.shape[0], 3)
        '[a[0] * 3.0, a[1] * 3.0, a[2] * 3.0]'
        """
        return self._entries.shape

    @property
    def ndim(self) -> int:
        """How many axes it has: 0 of one number, 1 of a vector.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v[0] + v.ndim, 3)
        'a[0] + 1.0'
        """
        return self._entries.ndim

    @property
    def size(self) -> int:
        """How many entries it has.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v[0] / v.size, 3)
        'a[0] / 3.0'
        """
        return self._entries.size

    @property
    def dtype(self) -> np.dtype:
        """That of a float.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v[0] * (v.dtype == float), 3)
        'a[0] * 1.0'
        """
        return np.dtype(float)

    @property
    def T(self) -> Array:
        """A matrix with rows and columns exchanged.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.reshape(3, 1).T[0], 3)
        'a'
        """
        return Array(self._entries.T)

    @property
    def x(self) -> Array:
        """The first entry of a vector of 1 to 3.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.x, 3)
        'a[0]'
        """
        return self._named(0, "x")

    @property
    def y(self) -> Array:
        """The second entry of a vector of 2 or 3.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.y, 3)
        'a[1]'
        """
        return self._named(1, "y")

    @property
    def z(self) -> Array:
        """The third entry of a vector of 3.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.z, 3)
        'a[2]'
        """
        return self._named(2, "z")

    def _named(self, at: Any, name: Any) -> Array:
        if self.ndim != 1 or self.size > 3 or at >= self.size:
            raise Error(
                f"there is no .{name} of {shape_words(self.shape)}; entries of a longer vector are v[0], v[1], …"
            )
        return self[at]

    def reshape(self, *shape: Any) -> Array:
        """The same entries in another shape.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.reshape(1, 3)[0, 1], 3)
        'a[1]'
        """
        return _numpy.reshape(self, shape[0] if len(shape) == 1 else shape)

    def ravel(self) -> Array:
        """All entries as a vector.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.reshape(3, 1).ravel(), 3)
        'a'
        """
        return _numpy.ravel(self)

    def flatten(self) -> Array:
        """All entries as a vector.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.reshape(3, 1).flatten(), 3)
        'a'
        """
        return _numpy.ravel(self)

    def transpose(self, *axes: Any) -> Array:
        """Axes in another order; the other way round unless said.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.reshape(3, 1).transpose()[0], 3)
        'a'
        """
        return _numpy.transpose(self, (axes[0] if len(axes) == 1 else axes) or None)

    def squeeze(self, axis: Any = None) -> Array:
        """Without axes of one entry.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.reshape(1, 3).squeeze(), 3)
        'a'
        """
        return _numpy.squeeze(self, axis)

    def copy(self) -> Array:
        """Itself: traced arrays do not change.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.copy(), 3)
        'a'
        """
        return self

    def astype(self, dtype: Any) -> Array:
        """Conditions as numbers, 1 and 0; numbers stay as they are.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.astype(float), 3)
        'a'
        """
        if np.dtype(dtype).kind != "f":
            raise Error("traced numbers are floats; cgpo.floor gives whole ones")
        return _numpy.positive(self)

    def item(self) -> Any:
        """Refused: a traced value is no number of Python's.

        >>> import cgpo
        >>> try:
        ...     cgpo.expression_of(lambda v: v.item(), None)
        ... except cgpo.Error as error:
        ...     print(str(error)[:37])
        a traced value is known only when the
        """
        return self._no_number()


def traced_source(trace: Any, moment: str, text: str, size: int | None) -> Array:
    """What a moment has, as an array: of one number if size is None."""
    if size is None:
        return Array(Node("source", source=Source(trace, moment, text)))
    entries = np.empty(size, dtype=object)
    for i in range(size):
        entries[i] = Node("source", source=Source(trace, moment, text, i, size))
    return Array(entries)


def _index_words(index: Any) -> str:
    return ", ".join(map(str, index)) if isinstance(index, tuple) else str(index)


def _known_names(functions: Any) -> str:
    return ", ".join(sorted(function.__name__ for function in functions))


def array(value: Any) -> Array | np.ndarray:
    """An array of numbers and traced numbers, which may be lists within lists: NumPy's if all are known.

    >>> import cgpo
    >>> cgpo.array([1.0, 2.5])
    array([1. , 2.5])
    """
    return Array(entries_of(value)) if is_traced(value) else np.asarray(value, dtype=float)
