"""What NumPy's functions do with traced arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cgpo._array import FUNCTIONS, MOVERS, UFUNCS, Array, array, entries_of, shape_words
from cgpo._errors import Error
from cgpo._nodes import Node, apply, is_boolean


def _each(op: str, *values: Any) -> Any:
    """An operation entry by entry, shapes as NumPy broadcasts them."""
    entries = [entries_of(value) for value in values]
    try:
        spread = np.broadcast(*entries) if len(entries) > 1 else entries[0]
    except ValueError:
        raise Error(
            f"{' and '.join(shape_words(e.shape) for e in entries)} do not go together, entry by entry"
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


def numbers(value: Any) -> Any:
    # Yes and no as 1 and 0, where arithmetic begins.
    entries = entries_of(value)
    if not any(isinstance(entry, bool) for entry in entries.flat):
        return value
    return Array(_map(lambda entry: float(entry) if isinstance(entry, bool) else entry, entries))


def _map(function: Any, entries: Any) -> Any:
    result = np.empty(entries.shape, dtype=object)
    flat = result.reshape(-1)
    for i, entry in enumerate(entries.reshape(-1)):
        flat[i] = function(entry)
    return result


def _arithmetic(op: str) -> Any:
    return lambda *values: _each(op, *map(numbers, values))


def _logic(op: str) -> Any:
    def checked(*values: Any) -> Any:
        for value in values:
            if not all(is_boolean(entry) for entry in entries_of(value).flat):
                raise Error("& | ^ ~ are of conditions, as in (0 < x) & (x < 1), not of numbers")
        return _each(op, *values)

    return checked


def _truth(value: Any) -> Any:
    return Array(_map(lambda e: e if is_boolean(e) else apply("unequal", e, 0.0), entries_of(value)))


def _power(base: Any, exponent: Any) -> Any:
    exponents = entries_of(exponent)
    if exponents.ndim == 0 and not isinstance(exponents[()], Node):
        p = float(exponents[()])
        if p == 0.5:
            return _each("sqrt", numbers(base))
        if p == math.floor(p) and abs(p) <= 16:
            base = numbers(base)
            result = base if isinstance(base, Array) else Array(entries_of(base))
            for _ in range(int(abs(p)) - 1):
                result = result * base
            if p == 0:
                return Array(_map(lambda _: 1.0, result._entries))
            return 1.0 / result if p < 0 else result
    return _each("exp", _arithmetic("mul")(exponent, _each("log", numbers(base))))


def _floor_divide(a: Any, b: Any) -> Any:
    return _each("floor", _arithmetic("div")(a, b))


def _remainder(a: Any, b: Any) -> Any:
    return _arithmetic("sub")(a, _arithmetic("mul")(b, _floor_divide(a, b)))


def _matmul(a: Any, b: Any) -> Any:
    left, right = entries_of(numbers(a)), entries_of(numbers(b))
    if left.ndim == 0 or right.ndim == 0 or left.ndim > 2 or right.ndim > 2:
        raise Error(f"@ is of vectors and matrices, not {shape_words(left.shape)} and {shape_words(right.shape)}")
    if left.shape[-1] != right.shape[0]:
        raise Error(f"{shape_words(left.shape)} and {shape_words(right.shape)} do not go together in a product")
    rows = left.reshape(-1, left.shape[-1])
    columns = right.reshape(right.shape[0], -1)
    result = np.empty((rows.shape[0], columns.shape[1]), dtype=object)
    for i in range(rows.shape[0]):
        for j in range(columns.shape[1]):
            products = [apply("mul", x, y) for x, y in zip(rows[i], columns[:, j], strict=True)]
            result[i, j] = _fold("add", products) if products else 0.0
    return Array(result.reshape(left.shape[:-1] + right.shape[1:]))


def _dot(a: Any, b: Any) -> Any:
    if entries_of(a).ndim == 0 or entries_of(b).ndim == 0:
        return _arithmetic("mul")(a, b)
    return _matmul(a, b)


def _fold(op: str, entries: Any) -> Any:
    result = entries[0]
    for entry in entries[1:]:
        result = apply(op, result, entry)
    return result


def reduce(value: Any, axis: Any, keepdims: bool, of_list: Any) -> Any:
    """One number of all entries, or of those along an axis."""
    entries = entries_of(value)
    if axis is None:
        result = np.empty((), dtype=object)
        result[()] = of_list(list(entries.reshape(-1)))
        return Array(result.reshape((1,) * entries.ndim) if keepdims else result)
    axes = axis if isinstance(axis, tuple) else (axis,)
    if any(not -entries.ndim <= a < entries.ndim for a in axes):
        raise Error(f"{shape_words(entries.shape)} has no axis {axis}")
    moved = np.moveaxis(entries, axes, range(-len(axes), 0))
    moved = moved.reshape(moved.shape[: entries.ndim - len(axes)] + (-1,))
    result = np.empty(moved.shape[:-1], dtype=object)
    for place in np.ndindex(result.shape):
        result[place] = of_list(list(moved[place]))
    return Array(np.expand_dims(result, axes) if keepdims else result)


def _reducer(op: str, empty: Any = None) -> Any:
    def of_list(entries: Any) -> Any:
        if not entries and empty is None:
            raise Error("there is no smallest or largest entry of an array that has none")
        return _fold(op, entries) if entries else empty

    def reduced(
        value: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, **others: Any
    ) -> Any:
        _refuse(others)
        value = value if op in ("and", "or") else numbers(value)
        return reduce(_truth(value) if op in ("and", "or") else value, axis, keepdims, of_list)

    return reduced


def _refuse(others: Any) -> Any:
    given = [name for name, value in others.items() if value is not np._NoValue and value is not None]
    if given:
        raise Error(f"traced arrays take no argument {given[0]!r} here")


_sum = _reducer("add", 0.0)


def _mean(
    value: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, **others: Any
) -> Any:
    _refuse(others)
    total = _sum(value, axis=axis, keepdims=keepdims)
    return total / (entries_of(value).size / max(total.size, 1))


def squares_of(entries: Any) -> Any:
    squares: Any = 0.0
    for entry in entries:
        squares = apply("add", squares, apply("mul", entry, entry))
    return squares


def _norm(value: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    if ord not in (None, 2) or (axis is None and entries_of(value).ndim > 1):
        raise Error("norm is the length of a vector, ord=2, along one axis")

    # The slope at 0 is 0: the root is taken of 1 there, and its value not used.
    def length(entries: Any) -> Any:
        squares = squares_of(entries)
        is_zero = apply("less_equal", squares, 0.0)
        return apply("where", is_zero, 0.0, apply("sqrt", apply("where", is_zero, 1.0, squares)))

    return reduce(numbers(value), axis, keepdims, length)


def _cumulated(value: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    entries = entries_of(numbers(value))
    if axis is None:
        entries, axis = entries.reshape(-1), 0
    return Array(np.add.accumulate(entries, axis=axis))


def _cross(a: Any, b: Any, **others: Any) -> Any:
    _refuse({k: v for k, v in others.items() if v != -1})
    x, y = entries_of(numbers(a)), entries_of(numbers(b))
    if x.shape != (3,) or y.shape != (3,):
        raise Error(f"cross takes vectors of 3, not {shape_words(x.shape)} and {shape_words(y.shape)}")
    return array(
        [
            Array(x[1]) * Array(y[2]) - Array(x[2]) * Array(y[1]),
            Array(x[2]) * Array(y[0]) - Array(x[0]) * Array(y[2]),
            Array(x[0]) * Array(y[1]) - Array(x[1]) * Array(y[0]),
        ]
    )


def _where(condition: Any, *values: Any) -> Any:
    if len(values) != 2:
        raise Error("where takes a condition and two values")
    return _each("where", _truth(condition), *values)


def _clip(
    value: Any,
    a_min: Any = None,
    a_max: Any = None,
    out: Any = None,
    *,
    min: Any = None,
    max: Any = None,
    **others: Any,
) -> Any:
    _refuse(others)
    low = a_min if a_min is not None else min
    high = a_max if a_max is not None else max
    result = numbers(value)
    if low is not None:
        result = _arithmetic("max")(result, low)
    if high is not None:
        result = _arithmetic("min")(result, high)
    return result if isinstance(result, Array) else Array(entries_of(result))


def _unary(op: str) -> Any:
    return lambda value: _each(op, numbers(value))


def _arcsin(x: Any) -> Any:
    return _each("atan2", x, _each("sqrt", 1.0 - _arithmetic("mul")(x, x)))


def _arccos(x: Any) -> Any:
    return _each("atan2", _each("sqrt", 1.0 - _arithmetic("mul")(x, x)), x)


def _sinh(x: Any) -> Any:
    return 0.5 * (_each("exp", x) - _each("exp", _each("neg", x)))


def _cosh(x: Any) -> Any:
    return 0.5 * (_each("exp", x) + _each("exp", _each("neg", x)))


_sub, _mul = _arithmetic("sub"), _arithmetic("mul")

# NumPy's functions of numbers, entry by entry.
_UFUNCS = {
    np.add: _arithmetic("add"),
    np.subtract: _sub,
    np.multiply: _mul,
    np.true_divide: _arithmetic("div"),
    np.floor_divide: _floor_divide,
    np.remainder: _remainder,
    np.negative: _unary("neg"),
    np.positive: numbers,
    np.power: _power,
    np.float_power: _power,
    np.square: lambda x: _mul(x, x),
    np.reciprocal: lambda x: _arithmetic("div")(1.0, x),
    np.sqrt: _unary("sqrt"),
    np.absolute: _unary("abs"),
    np.fabs: _unary("abs"),
    np.sign: _unary("sign"),
    np.floor: _unary("floor"),
    np.ceil: lambda x: -_each("floor", -numbers(x)),
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
    np.log1p: lambda x: _each("log", 1.0 + numbers(x)),
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
_FUNCTIONS = {
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
_MOVERS = {
    np.concatenate, np.stack, np.hstack, np.vstack, np.column_stack, np.append, np.reshape, np.ravel, np.transpose,
    np.squeeze, np.expand_dims, np.atleast_1d, np.atleast_2d, np.moveaxis, np.swapaxes, np.flip, np.roll, np.repeat,
    np.tile, np.broadcast_to, np.take, np.diagonal, np.diag, np.split, np.array_split, np.delete, np.insert, np.copy,
    np.einsum, np.trace, np.kron, np.tril, np.triu,
}  # fmt: skip


def _diff(a: Any, n: Any, axis: Any) -> Any:
    entries = entries_of(numbers(a))
    for _ in range(n):
        after = np.take(entries, range(1, entries.shape[axis]), axis=axis)
        entries = entries_of(_sub(Array(after), Array(np.take(entries, range(entries.shape[axis] - 1), axis=axis))))
    return Array(entries)


UFUNCS.update(_UFUNCS)
FUNCTIONS.update(_FUNCTIONS)
MOVERS.update(_MOVERS)
