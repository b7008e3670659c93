"""Traced arrays: numbers that are not known yet, with the names and operators of NumPy."""

import math
from typing import NamedTuple

import numpy as np

from cgpo._errors import Error

_CANNOT_DECIDE = (
    "a traced value is known only when the task runs, so Python cannot decide by it: cgpo.where(condition, a, b) chooses "
    "between two values; & | ~ stand for and, or, not, cgpo.minimum and cgpo.maximum for min and max"
)


class Source(NamedTuple):
    """What a number is that the task's moment has: `text` of a task file at a moment, or one of its entries."""

    trace: object
    moment: str
    text: str
    index: int | None = None
    size: int = 1


class Node:
    """One number that is not known yet: an operation and what it is of, or something that the task's moment has.

    Entries of arrays are these, or floats where a number is known already.
    """

    __slots__ = ("boolean", "op", "operands", "serial", "source")
    made = 0

    def __init__(self, op, operands=(), source=None, boolean=False):
        self.op = op
        self.operands = operands
        self.source = source  # of an op that is none: a Source
        self.boolean = boolean
        Node.made += 1
        self.serial = Node.made

    # Products and sums of whole arrays are left to NumPy, which calls these.
    def __add__(self, other):
        return apply("add", self, other)

    def __radd__(self, other):
        return apply("add", other, self)

    def __mul__(self, other):
        return apply("mul", self, other)

    def __rmul__(self, other):
        return apply("mul", other, self)


def _quotient(a, b):
    return a / b if b != 0.0 else math.nan if a == 0.0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)


def _by_numpy(function):
    def plain(*values):
        with np.errstate(all="ignore"):
            return float(function(*values))

    return plain


# Every operation by what a task file calls it: how known numbers are taken, and whether it says yes or no.
_PLAIN = {
    "add": (lambda a, b: a + b, False),
    "sub": (lambda a, b: a - b, False),
    "mul": (lambda a, b: a * b, False),
    "div": (_quotient, False),
    "neg": (lambda a: -a, False),
    "less": (lambda a, b: a < b, True),
    "less_equal": (lambda a, b: a <= b, True),
    "equal": (lambda a, b: a == b, True),
    "unequal": (lambda a, b: a != b, True),
    "and": (lambda a, b: bool(a) and bool(b), True),
    "or": (lambda a, b: bool(a) or bool(b), True),
    "not": (lambda a: not a, True),
    "where": (lambda c, a, b: a if c else b, False),
    "min": (lambda a, b: a if a < b else b, False),
    "max": (lambda a, b: a if a > b else b, False),
    "abs": (abs, False),
    "sign": (_by_numpy(np.sign), False),
    "floor": (_by_numpy(np.floor), False),
    "sqrt": (_by_numpy(np.sqrt), False),
    "sin": (_by_numpy(np.sin), False),
    "cos": (_by_numpy(np.cos), False),
    "tan": (_by_numpy(np.tan), False),
    "atan2": (_by_numpy(np.arctan2), False),
    "exp": (_by_numpy(np.exp), False),
    "log": (_by_numpy(np.log), False),
    "tanh": (_by_numpy(np.tanh), False),
}


def apply(op, *operands):
    """The number that an operation gives: known if all of its operands are."""
    plain, boolean = _PLAIN[op]
    if not any(isinstance(operand, Node) for operand in operands):
        return plain(*operands)
    if op == "where" and not isinstance(operands[0], Node):
        return operands[1] if operands[0] else operands[2]
    if op == "where":
        boolean = all(isinstance(o, (bool, np.bool_)) or getattr(o, "boolean", False) for o in operands[1:])
    return Node(op, operands, boolean=boolean)


def _is_boolean(entry):
    return entry.boolean if isinstance(entry, Node) else isinstance(entry, bool)


def is_traced(value):
    """Whether a value, or anything in it, is a traced array."""
    if isinstance(value, Array):
        return True
    if isinstance(value, (list, tuple)):
        return any(is_traced(item) for item in value)
    return isinstance(value, np.ndarray) and value.dtype == object and any(is_traced(item) for item in value.flat)


def _known(number):
    # A number that Python has: bool stays what it is.
    return bool(number) if isinstance(number, (bool, np.bool_)) else float(number)


def entries_of(value):
    """What an array-like holds, as an array of Node and float."""
    if isinstance(value, Array):
        return value._entries
    if isinstance(value, (list, tuple)) and is_traced(value):
        parts = [entries_of(item) for item in value]
        if any(part.shape != parts[0].shape for part in parts):
            raise Error(
                f"an array cannot hold parts of different shapes, {' and '.join(_shape_words(p.shape) for p in parts)}; "
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


def _shape_words(shape):
    return "one number" if shape == () else f"a shape of {shape}"


def _each(op, *values):
    """An operation entry by entry, shapes as NumPy broadcasts them."""
    entries = [entries_of(value) for value in values]
    try:
        spread = np.broadcast(*entries) if len(entries) > 1 else entries[0]
    except ValueError:
        raise Error(
            f"{' and '.join(_shape_words(e.shape) for e in entries)} do not go together, entry by entry"
        ) from None
    result = np.empty(spread.shape, dtype=object)
    flat = result.reshape(-1)
    if len(entries) == 1:
        for i, entry in enumerate(entries[0].reshape(-1)):
            flat[i] = apply(op, entry)
    else:
        for i, each in enumerate(spread):
            flat[i] = apply(op, *each)
    return Array(result)


def _numbers(value):
    # Yes and no as 1 and 0, where arithmetic begins.
    entries = entries_of(value)
    if not any(isinstance(entry, bool) for entry in entries.flat):
        return value
    return Array(_map(lambda entry: float(entry) if isinstance(entry, bool) else entry, entries))


def _map(function, entries):
    result = np.empty(entries.shape, dtype=object)
    flat = result.reshape(-1)
    for i, entry in enumerate(entries.reshape(-1)):
        flat[i] = function(entry)
    return result


def _arithmetic(op):
    return lambda *values: _each(op, *map(_numbers, values))


def _logic(op):
    def checked(*values):
        for value in values:
            if not all(_is_boolean(entry) for entry in entries_of(value).flat):
                raise Error("& | ^ ~ are of conditions, as in (0 < x) & (x < 1), not of numbers")
        return _each(op, *values)

    return checked


def _truth(value):
    return Array(_map(lambda e: e if _is_boolean(e) else apply("unequal", e, 0.0), entries_of(value)))


def _power(base, exponent):
    exponents = entries_of(exponent)
    if exponents.ndim == 0 and not isinstance(exponents[()], Node):
        p = float(exponents[()])
        if p == 0.5:
            return _each("sqrt", _numbers(base))
        if p == math.floor(p) and abs(p) <= 16:
            base = _numbers(base)
            result = base if isinstance(base, Array) else Array(entries_of(base))
            for _ in range(int(abs(p)) - 1):
                result = result * base
            if p == 0:
                return Array(_map(lambda _: 1.0, result._entries))
            return 1.0 / result if p < 0 else result
    return _each("exp", _arithmetic("mul")(exponent, _each("log", _numbers(base))))


def _floor_divide(a, b):
    return _each("floor", _arithmetic("div")(a, b))


def _remainder(a, b):
    return _arithmetic("sub")(a, _arithmetic("mul")(b, _floor_divide(a, b)))


def _matmul(a, b):
    left, right = entries_of(_numbers(a)), entries_of(_numbers(b))
    if left.ndim == 0 or right.ndim == 0 or left.ndim > 2 or right.ndim > 2:
        raise Error(f"@ is of vectors and matrices, not {_shape_words(left.shape)} and {_shape_words(right.shape)}")
    if left.shape[-1] != right.shape[0]:
        raise Error(f"{_shape_words(left.shape)} and {_shape_words(right.shape)} do not go together in a product")
    rows = left.reshape(-1, left.shape[-1])
    columns = right.reshape(right.shape[0], -1)
    result = np.empty((rows.shape[0], columns.shape[1]), dtype=object)
    for i in range(rows.shape[0]):
        for j in range(columns.shape[1]):
            products = [apply("mul", x, y) for x, y in zip(rows[i], columns[:, j], strict=True)]
            result[i, j] = _fold("add", products) if products else 0.0
    return Array(result.reshape(left.shape[:-1] + right.shape[1:]))


def _dot(a, b):
    if entries_of(a).ndim == 0 or entries_of(b).ndim == 0:
        return _arithmetic("mul")(a, b)
    return _matmul(a, b)


def _fold(op, entries):
    result = entries[0]
    for entry in entries[1:]:
        result = apply(op, result, entry)
    return result


def _reduce(value, axis, keepdims, of_list):
    """One number of all entries, or of those along an axis."""
    entries = entries_of(value)
    if axis is None:
        result = np.empty((), dtype=object)
        result[()] = of_list(list(entries.reshape(-1)))
        return Array(result.reshape((1,) * entries.ndim) if keepdims else result)
    axes = axis if isinstance(axis, tuple) else (axis,)
    if any(not -entries.ndim <= a < entries.ndim for a in axes):
        raise Error(f"{_shape_words(entries.shape)} has no axis {axis}")
    moved = np.moveaxis(entries, axes, range(-len(axes), 0))
    moved = moved.reshape(moved.shape[: entries.ndim - len(axes)] + (-1,))
    result = np.empty(moved.shape[:-1], dtype=object)
    for place in np.ndindex(result.shape):
        result[place] = of_list(list(moved[place]))
    return Array(np.expand_dims(result, axes) if keepdims else result)


def _reducer(op, empty=None):
    def of_list(entries):
        if not entries and empty is None:
            raise Error("there is no smallest or largest entry of an array that has none")
        return _fold(op, entries) if entries else empty

    def reduce(value, axis=None, dtype=None, out=None, keepdims=False, **others):
        _refuse(others)
        value = value if op in ("and", "or") else _numbers(value)
        return _reduce(_truth(value) if op in ("and", "or") else value, axis, keepdims, of_list)

    return reduce


def _refuse(others):
    given = [name for name, value in others.items() if value is not np._NoValue and value is not None]
    if given:
        raise Error(f"traced arrays take no argument {given[0]!r} here")


_sum = _reducer("add", 0.0)


def _mean(value, axis=None, dtype=None, out=None, keepdims=False, **others):
    _refuse(others)
    total = _sum(value, axis=axis, keepdims=keepdims)
    return total / (entries_of(value).size / max(total.size, 1))


def _squares(entries):
    squares = 0.0
    for entry in entries:
        squares = apply("add", squares, apply("mul", entry, entry))
    return squares


def _norm(value, ord=None, axis=None, keepdims=False):
    if ord not in (None, 2) or (axis is None and entries_of(value).ndim > 1):
        raise Error("norm is the length of a vector, ord=2, along one axis")

    # The slope at 0 is 0: the root is taken of 1 there, and its value not used.
    def length(entries):
        squares = _squares(entries)
        is_zero = apply("less_equal", squares, 0.0)
        return apply("where", is_zero, 0.0, apply("sqrt", apply("where", is_zero, 1.0, squares)))

    return _reduce(_numbers(value), axis, keepdims, length)


def _cumulated(value, axis=None, dtype=None, out=None):
    entries = entries_of(_numbers(value))
    if axis is None:
        entries, axis = entries.reshape(-1), 0
    return Array(np.add.accumulate(entries, axis=axis))


def _cross(a, b, **others):
    _refuse({k: v for k, v in others.items() if v != -1})
    x, y = entries_of(_numbers(a)), entries_of(_numbers(b))
    if x.shape != (3,) or y.shape != (3,):
        raise Error(f"cross takes vectors of 3, not {_shape_words(x.shape)} and {_shape_words(y.shape)}")
    return array(
        [
            Array(x[1]) * Array(y[2]) - Array(x[2]) * Array(y[1]),
            Array(x[2]) * Array(y[0]) - Array(x[0]) * Array(y[2]),
            Array(x[0]) * Array(y[1]) - Array(x[1]) * Array(y[0]),
        ]
    )


def _where(condition, *values):
    if len(values) != 2:
        raise Error("where takes a condition and two values")
    return _each("where", _truth(condition), *values)


def _clip(value, a_min=None, a_max=None, out=None, *, min=None, max=None, **others):
    _refuse(others)
    low = a_min if a_min is not None else min
    high = a_max if a_max is not None else max
    result = _numbers(value)
    if low is not None:
        result = _arithmetic("max")(result, low)
    if high is not None:
        result = _arithmetic("min")(result, high)
    return result if isinstance(result, Array) else Array(entries_of(result))


def _unary(op):
    return lambda value: _each(op, _numbers(value))


def _arcsin(x):
    return _each("atan2", x, _each("sqrt", 1.0 - _arithmetic("mul")(x, x)))


def _arccos(x):
    return _each("atan2", _each("sqrt", 1.0 - _arithmetic("mul")(x, x)), x)


def _sinh(x):
    return 0.5 * (_each("exp", x) - _each("exp", _each("neg", x)))


def _cosh(x):
    return 0.5 * (_each("exp", x) + _each("exp", _each("neg", x)))


_sub, _mul = _arithmetic("sub"), _arithmetic("mul")

# NumPy's functions of numbers, entry by entry.
UFUNCS = {
    np.add: _arithmetic("add"),
    np.subtract: _sub,
    np.multiply: _mul,
    np.true_divide: _arithmetic("div"),
    np.floor_divide: _floor_divide,
    np.remainder: _remainder,
    np.negative: _unary("neg"),
    np.positive: lambda x: x,
    np.power: _power,
    np.float_power: _power,
    np.square: lambda x: _mul(x, x),
    np.reciprocal: lambda x: _arithmetic("div")(1.0, x),
    np.sqrt: _unary("sqrt"),
    np.absolute: _unary("abs"),
    np.fabs: _unary("abs"),
    np.sign: _unary("sign"),
    np.floor: _unary("floor"),
    np.ceil: lambda x: -_each("floor", -_numbers(x)),
    np.sin: _unary("sin"),
    np.cos: _unary("cos"),
    np.tan: _unary("tan"),
    np.arcsin: _arcsin,
    np.arccos: _arccos,
    np.arctan: lambda x: _each("atan2", x, 1.0),
    np.arctan2: _arithmetic("atan2"),
    np.hypot: lambda x, y: _each("sqrt", _mul(x, x) + _mul(y, y)),
    np.sinh: _sinh,
    np.cosh: _cosh,
    np.tanh: _unary("tanh"),
    np.exp: _unary("exp"),
    np.log: _unary("log"),
    np.log2: lambda x: _each("log", x) * (1.0 / math.log(2.0)),
    np.log10: lambda x: _each("log", x) * (1.0 / math.log(10.0)),
    np.log1p: lambda x: _each("log", 1.0 + _numbers(x)),
    np.expm1: lambda x: _each("exp", x) - 1.0,
    np.deg2rad: lambda x: _mul(x, math.pi / 180.0),
    np.radians: lambda x: _mul(x, math.pi / 180.0),
    np.rad2deg: lambda x: _mul(x, 180.0 / math.pi),
    np.degrees: lambda x: _mul(x, 180.0 / math.pi),
    np.minimum: _arithmetic("min"),
    np.maximum: _arithmetic("max"),
    np.less: _arithmetic("less"),
    np.less_equal: _arithmetic("less_equal"),
    np.greater: lambda a, b: _arithmetic("less")(b, a),
    np.greater_equal: lambda a, b: _arithmetic("less_equal")(b, a),
    np.equal: _arithmetic("equal"),
    np.not_equal: _arithmetic("unequal"),
    np.logical_and: lambda a, b: _each("and", _truth(a), _truth(b)),
    np.logical_or: lambda a, b: _each("or", _truth(a), _truth(b)),
    np.logical_xor: lambda a, b: _each("unequal", _truth(a), _truth(b)),
    np.logical_not: lambda a: _each("not", _truth(a)),
    np.bitwise_and: _logic("and"),
    np.bitwise_or: _logic("or"),
    np.bitwise_xor: _logic("unequal"),
    np.invert: _logic("not"),
    np.matmul: _matmul,
}

# Functions that make numbers out of several.
FUNCTIONS = {
    np.sum: _sum,
    np.prod: _reducer("mul", 1.0),
    np.mean: _mean,
    np.min: _reducer("min"),
    np.max: _reducer("max"),
    np.amin: _reducer("min"),
    np.amax: _reducer("max"),
    np.all: _reducer("and", True),
    np.any: _reducer("or", False),
    np.cumsum: _cumulated,
    np.dot: _dot,
    np.vdot: lambda a, b: _dot(np.ravel(a), np.ravel(b)),
    np.inner: lambda a, b: _dot(a, np.transpose(b)),
    np.outer: lambda a, b: _mul(np.ravel(a)[:, None], np.ravel(b)[None, :]),
    np.cross: _cross,
    np.linalg.norm: _norm,
    np.where: _where,
    np.clip: _clip,
    np.diff: lambda a, n=1, axis=-1: _diff(a, n, axis),
    np.shape: lambda a: entries_of(a).shape,
    np.ndim: lambda a: entries_of(a).ndim,
    np.size: lambda a: entries_of(a).size,
    np.zeros_like: lambda a, **others: np.zeros(entries_of(a).shape),
    np.ones_like: lambda a, **others: np.ones(entries_of(a).shape),
}

# Functions that only move entries: NumPy's own do it.
MOVERS = {
    np.concatenate, np.stack, np.hstack, np.vstack, np.column_stack, np.append, np.reshape, np.ravel, np.transpose,
    np.squeeze, np.expand_dims, np.atleast_1d, np.atleast_2d, np.moveaxis, np.swapaxes, np.flip, np.roll, np.repeat,
    np.tile, np.broadcast_to, np.take, np.diagonal, np.diag, np.split, np.array_split, np.delete, np.insert, np.copy,
    np.einsum, np.trace, np.kron, np.tril, np.triu,
}  # fmt: skip


def _diff(a, n, axis):
    entries = entries_of(_numbers(a))
    for _ in range(n):
        after = np.take(entries, range(1, entries.shape[axis]), axis=axis)
        entries = entries_of(_sub(Array(after), Array(np.take(entries, range(entries.shape[axis] - 1), axis=axis))))
    return Array(entries)


def _unwrapped(value):
    if isinstance(value, Array):
        return value._entries
    if isinstance(value, (list, tuple)) and is_traced(value):
        return type(value)(entries_of(item) for item in value)
    return value


def _wrapped(value):
    if isinstance(value, (list, tuple)):
        return type(value)(_wrapped(item) for item in value)
    return Array(value)


class Array(np.lib.mixins.NDArrayOperatorsMixin):
    """Numbers that are known only when the task runs. NumPy's functions and operators work on it; so do indices.

    A method of a task gets such arrays, and what it makes of them becomes the task. They do not change: what would be
    set is made anew with `cgpo.array` or `np.concatenate`. `v.x`, `v.y`, `v.z` are entries of a short vector.

    >>> import cgpo, numpy as np
    >>> class Seen(cgpo.Task):
    ...     actions, horizon = 1, 10
    ...     def reset(self, random):
    ...         return random.uniform(-1, 1, 3)
    ...     def step(self, state, action):
    ...         print(type(state).__mro__[1].__name__, state.shape, np.sin(state[1:]).shape)
    ...         return state
    ...     def observe(self, state):
    ...         return state
    ...     def reward(self, before, action, after):
    ...         return -np.linalg.norm(after)
    >>> text = Seen().definition()
    Array (3,) (2,)
    """

    __slots__ = ("_entries",)
    __hash__ = None

    def __init__(self, entries):
        if not isinstance(entries, np.ndarray):
            # One entry that NumPy took out of an array.
            alone = np.empty((), dtype=object)
            alone[()] = entries
            entries = alone
        self._entries = entries

    # ---- what NumPy asks -------------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        reducers = {np.add: np.sum, np.multiply: np.prod, np.minimum: np.min, np.maximum: np.max}
        if method == "reduce" and ufunc in reducers:
            return FUNCTIONS[reducers[ufunc]](*inputs, **{"axis": 0, **kwargs})
        # x += y makes a new x; an array of NumPy, which would have to change, cannot.
        if not all(isinstance(out, Array) for out in kwargs.pop("out", ())):
            raise Error("traced numbers cannot be put into an array that is there: np.concatenate or cgpo.array makes one")
        kwargs = {key: value for key, value in kwargs.items() if key not in ("dtype", "casting")}
        if method != "__call__" or ufunc not in UFUNCS or kwargs:
            raise Error(
                f"traced arrays do not know np.{ufunc.__name__}{'' if method == '__call__' else '.' + method}"
                f"{' with ' + next(iter(kwargs)) if kwargs else ''}; they know {_known_names(UFUNCS)}"
            )
        return UFUNCS[ufunc](*inputs)

    def __array_function__(self, function, types, args, kwargs):
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

    def __array__(self, *args, **kwargs):
        raise Error("NumPy's arrays cannot hold traced numbers: cgpo.array([...]), np.stack or np.concatenate can")

    # ---- what Python asks ------------------------------------------------------------------------------------------

    def __bool__(self):
        raise Error(_CANNOT_DECIDE)

    def _no_number(self, *ignored):
        raise Error(
            "a traced value is known only when the task runs, so it is no number of Python's: functions of cgpo or NumPy "
            "take it (cgpo.sin for math.sin), cgpo.array([...]) holds it, cgpo.floor stands for int, cgpo.where chooses"
        )

    __float__ = __int__ = __index__ = __complex__ = __round__ = __trunc__ = _no_number

    def __format__(self, spec):
        return repr(self) if not spec else self._no_number()

    def __contains__(self, value):
        raise Error(_CANNOT_DECIDE)

    def __len__(self):
        if self.ndim == 0:
            raise Error("one traced number has no length; `x.shape` is () of one")
        return self.shape[0]

    def __iter__(self):
        if self.ndim == 0:
            raise Error("one traced number cannot be iterated over")
        return (Array(part) for part in self._entries)

    def __getitem__(self, index):
        if is_traced(index):
            raise Error("an index must be known while the task is traced; cgpo.where chooses by a traced value")
        try:
            return Array(self._entries[index])
        except IndexError:
            raise Error(f"[{_index_words(index)}] is not in {_shape_words(self.shape)}") from None

    def __setitem__(self, index, value):
        raise Error("traced arrays do not change: cgpo.array([...]) or np.concatenate makes one with other entries")

    def __repr__(self):
        return f"<traced, {_shape_words(self.shape)}>"

    # ---- shape -----------------------------------------------------------------------------------------------------

    @property
    def shape(self):
        """How many entries it has along each axis.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v * v.shape[0], 3)
        '[a[0] * 3.0, a[1] * 3.0, a[2] * 3.0]'
        """
        return self._entries.shape

    @property
    def ndim(self):
        """How many axes it has: 0 of one number, 1 of a vector.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v[0] + v.ndim, 3)
        'a[0] + 1.0'
        """
        return self._entries.ndim

    @property
    def size(self):
        """How many entries it has.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v[0] / v.size, 3)
        'a[0] / 3.0'
        """
        return self._entries.size

    @property
    def dtype(self):
        """That of a float.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v[0] * (v.dtype == float), 3)
        'a[0] * 1.0'
        """
        return np.dtype(float)

    @property
    def T(self):
        """A matrix with rows and columns exchanged.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.reshape(3, 1).T[0], 3)
        'a'
        """
        return Array(self._entries.T)

    @property
    def x(self):
        """The first entry of a vector of 1 to 3.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.x, 3)
        'a[0]'
        """
        return self._named(0, "x")

    @property
    def y(self):
        """The second entry of a vector of 2 or 3.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.y, 3)
        'a[1]'
        """
        return self._named(1, "y")

    @property
    def z(self):
        """The third entry of a vector of 3.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.z, 3)
        'a[2]'
        """
        return self._named(2, "z")

    def _named(self, at, name):
        if self.ndim != 1 or self.size > 3 or at >= self.size:
            raise Error(f"there is no .{name} of {_shape_words(self.shape)}; entries of a longer vector are v[0], v[1], …")
        return self[at]

    def reshape(self, *shape):
        """The same entries in another shape.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.reshape(1, 3)[0, 1], 3)
        'a[1]'
        """
        return np.reshape(self, shape[0] if len(shape) == 1 else shape)

    def ravel(self):
        """All entries as a vector.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.reshape(3, 1).ravel(), 3)
        'a'
        """
        return np.ravel(self)

    def flatten(self):
        """All entries as a vector.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.reshape(3, 1).flatten(), 3)
        'a'
        """
        return np.ravel(self)

    def transpose(self, *axes):
        """Axes in another order; the other way round unless said.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.reshape(3, 1).transpose()[0], 3)
        'a'
        """
        return np.transpose(self, (axes[0] if len(axes) == 1 else axes) or None)

    def squeeze(self, axis=None):
        """Without axes of one entry.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.reshape(1, 3).squeeze(), 3)
        'a'
        """
        return np.squeeze(self, axis)

    def copy(self):
        """Itself: traced arrays do not change.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.copy(), 3)
        'a'
        """
        return self

    def astype(self, dtype):
        """Conditions as numbers, 1 and 0; numbers stay as they are.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.astype(float), 3)
        'a'
        """
        if np.dtype(dtype).kind != "f":
            raise Error("traced numbers are floats; cgpo.floor gives whole ones")
        return _numbers(self)

    # ---- of several entries ----------------------------------------------------------------------------------------

    def sum(self, axis=None, **others):
        """Sum of the entries, or of those along an axis.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.sum(), 3)
        'a[0] + a[1] + a[2]'
        """
        return _sum(self, axis, **others)

    def prod(self, axis=None, **others):
        """Product of the entries, or of those along an axis.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.prod(), 2)
        'a[0] * a[1]'
        """
        return FUNCTIONS[np.prod](self, axis, **others)

    def mean(self, axis=None, **others):
        """Mean of the entries, or of those along an axis.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.mean(), 2)
        '(a[0] + a[1]) / 2.0'
        """
        return _mean(self, axis, **others)

    def min(self, axis=None, **others):
        """The smallest entry, or those along an axis.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.min(), 2)
        'min(a[0], a[1])'
        """
        return FUNCTIONS[np.min](self, axis, **others)

    def max(self, axis=None, **others):
        """The largest entry, or those along an axis.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.max(), 2)
        'max(a[0], a[1])'
        """
        return FUNCTIONS[np.max](self, axis, **others)

    def all(self, axis=None, **others):
        """Whether all conditions hold.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: (v > 0).all(), 2)
        '0.0 < a[0] and 0.0 < a[1]'
        """
        return FUNCTIONS[np.all](self, axis, **others)

    def any(self, axis=None, **others):
        """Whether any of the conditions holds.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: (v > 0).any(), 2)
        '0.0 < a[0] or 0.0 < a[1]'
        """
        return FUNCTIONS[np.any](self, axis, **others)

    def cumsum(self, axis=None):
        """Sums of the entries so far.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.cumsum(), 2)
        '[a[0], a[0] + a[1]]'
        """
        return _cumulated(self, axis)

    def dot(self, other):
        """Sum of products of two vectors, or the product of matrices.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.dot([2, 3]), 2)
        'a[0] * 2.0 + a[1] * 3.0'
        """
        return _dot(self, other)

    def clip(self, min=None, max=None):
        """Entries between two bounds.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.clip(-1, 1), None)
        'min(max(a, -1.0), 1.0)'
        """
        return _clip(self, min, max)

    def item(self):
        """Refused: a traced value is no number of Python's.

        >>> import cgpo
        >>> try:
        ...     cgpo.expression_of(lambda v: v.item(), None)
        ... except cgpo.Error as error:
        ...     print(str(error)[:37])
        a traced value is known only when the
        """
        return self._no_number()


def traced_source(trace, moment, text, size):
    """What a moment has, as an array: of one number if size is None."""
    if size is None:
        return Array(Node("source", source=Source(trace, moment, text)))
    entries = np.empty(size, dtype=object)
    for i in range(size):
        entries[i] = Node("source", source=Source(trace, moment, text, i, size))
    return Array(entries)


def _index_words(index):
    return ", ".join(map(str, index)) if isinstance(index, tuple) else str(index)


def _known_names(functions):
    return ", ".join(sorted(function.__name__ for function in functions))


def array(value):
    """An array of numbers and traced numbers, which may be lists within lists: NumPy's if all are known.

    >>> import cgpo
    >>> cgpo.array([1.0, 2.5])
    array([1. , 2.5])
    """
    return Array(entries_of(value)) if is_traced(value) else np.asarray(value, dtype=float)
