"""Functions of numbers, known or traced. Of known ones they give what NumPy's give."""

from __future__ import annotations

from typing import Any

import numpy as np

from cgpo import _operations
from cgpo._array import Array, array, is_traced


def _any(value: Any) -> Any:
    # A list that holds traced numbers is an array; everything else is left to NumPy.
    return array(value) if isinstance(value, (list, tuple)) and is_traced(value) else value


def where(condition: Any, a: Any, b: Any) -> Any:
    """`a` where the condition holds, `b` where it does not: what `if` is for numbers that are known already.

    Both are computed, and both must be finite.

    >>> import cgpo
    >>> cgpo.where([True, False], 1.0, 2.0)
    array([1., 2.])
    """
    return np.where(_any(condition), _any(a), _any(b))


def sin(x: Any) -> Any:
    """Sine of an angle in radians.

    >>> import cgpo
    >>> float(cgpo.sin(0.0))
    0.0
    """
    return np.sin(_any(x))


def cos(x: Any) -> Any:
    """Cosine of an angle in radians.

    >>> import cgpo
    >>> float(cgpo.cos(0.0))
    1.0
    """
    return np.cos(_any(x))


def tan(x: Any) -> Any:
    """Tangent of an angle in radians.

    >>> import cgpo
    >>> float(cgpo.tan(0.0))
    0.0
    """
    return np.tan(_any(x))


def atan2(y: Any, x: Any) -> Any:
    """Angle of the point (x, y), from -pi to pi: np.arctan2.

    >>> import cgpo
    >>> round(float(cgpo.atan2(1.0, 0.0)), 4)
    1.5708
    """
    return np.arctan2(_any(y), _any(x))


def wrap(angle: Any) -> Any:
    """The same angle between -pi and pi.

    >>> import cgpo
    >>> round(float(cgpo.wrap(7.0)), 4)
    0.7168
    """
    angle = _any(angle)
    return np.arctan2(np.sin(angle), np.cos(angle))


def exp(x: Any) -> Any:
    """Exponential.

    >>> import cgpo
    >>> float(cgpo.exp(0.0))
    1.0
    """
    return np.exp(_any(x))


def log(x: Any) -> Any:
    """Natural logarithm.

    >>> import cgpo
    >>> float(cgpo.log(1.0))
    0.0
    """
    return np.log(_any(x))


def sqrt(x: Any) -> Any:
    """Square root; its slope at 0 is infinite, see `norm` and `smooth_norm`.

    >>> import cgpo
    >>> float(cgpo.sqrt(4.0))
    2.0
    """
    return np.sqrt(_any(x))


def square(x: Any) -> Any:
    """x times x.

    >>> import cgpo
    >>> float(cgpo.square(3.0))
    9.0
    """
    return np.square(_any(x))


def abs(x: Any) -> Any:
    """Size without sign; its slope at 0 is 0.

    >>> import cgpo
    >>> float(cgpo.abs(-3.0))
    3.0
    """
    return np.abs(_any(x))


def sign(x: Any) -> Any:
    """-1, 0 or 1; its slope is 0.

    >>> import cgpo
    >>> float(cgpo.sign(-3.0))
    -1.0
    """
    return np.sign(_any(x))


def floor(x: Any) -> Any:
    """Largest whole number up to x; its slope is 0.

    >>> import cgpo
    >>> float(cgpo.floor(2.5))
    2.0
    """
    return np.floor(_any(x))


def tanh(x: Any) -> Any:
    """Hyperbolic tangent.

    >>> import cgpo
    >>> float(cgpo.tanh(0.0))
    0.0
    """
    return np.tanh(_any(x))


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)).

    >>> import cgpo
    >>> float(cgpo.sigmoid(0.0))
    0.5
    """
    return 0.5 + 0.5 * np.tanh(0.5 * _any(x) if is_traced(x) else np.multiply(0.5, x))


def minimum(a: Any, b: Any) -> Any:
    """The smaller of the two, entry by entry.

    >>> import cgpo
    >>> cgpo.minimum([1.0, 5.0], 3.0)
    array([1., 3.])
    """
    return np.minimum(_any(a), _any(b))


def maximum(a: Any, b: Any) -> Any:
    """The larger of the two, entry by entry.

    >>> import cgpo
    >>> cgpo.maximum([1.0, 5.0], 3.0)
    array([3., 5.])
    """
    return np.maximum(_any(a), _any(b))


def clamp(x: Any, low: Any, high: Any) -> Any:
    """x where it lies between the two, the nearer of them where it does not: np.clip.

    >>> import cgpo
    >>> cgpo.clamp([-5.0, 0.5], -1.0, 1.0)
    array([-1. ,  0.5])
    """
    return np.minimum(np.maximum(_any(x), _any(low)), _any(high))


clip = clamp


def sum(x: Any, axis: int | None = None) -> Any:
    """Sum of the entries.

    >>> import cgpo
    >>> float(cgpo.sum([1.0, 2.0]))
    3.0
    """
    return np.sum(_any(x), axis=axis)


def mean(x: Any, axis: int | None = None) -> Any:
    """Mean of the entries.

    >>> import cgpo
    >>> float(cgpo.mean([1.0, 2.0]))
    1.5
    """
    return np.mean(_any(x), axis=axis)


def sum_squares(x: Any) -> Any:
    """Sum of the entries' squares.

    >>> import cgpo
    >>> float(cgpo.sum_squares([3.0, 4.0]))
    25.0
    """
    x = _any(x)
    return (
        _operations.reduce(_operations.numbers(x), None, False, _operations.squares_of)
        if is_traced(x)
        else np.sum(np.square(x))
    )


def norm(x: Any, axis: int | None = None) -> Any:
    """Length of a vector; its slope at 0 is 0.

    >>> import cgpo
    >>> float(cgpo.norm([3.0, 4.0]))
    5.0
    """
    return np.linalg.norm(_any(x), axis=axis)


def smooth_norm(x: Any, width: Any) -> Any:
    """sqrt(sum_squares(x) + width²) - width: a norm that is smooth at 0.

    >>> import cgpo
    >>> float(cgpo.smooth_norm([3.0], 4.0))
    1.0
    """
    return np.sqrt(sum_squares(x) + width * width) - width


def dot(a: Any, b: Any) -> Any:
    """Sum of a times b of two vectors; the product of matrices: a @ b.

    >>> import cgpo
    >>> float(cgpo.dot([1.0, 2.0], [3.0, 4.0]))
    11.0
    """
    return np.dot(_any(a), _any(b))


def cross(a: Any, b: Any) -> Any:
    """Cross product of two vectors of 3.

    >>> import cgpo
    >>> cgpo.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    array([0., 0., 1.])
    """
    return np.cross(_any(a), _any(b))


def concatenate(arrays: Any, axis: int | None = 0) -> Any:
    """Arrays one after the other; a number by itself counts as a vector of one.

    >>> import cgpo
    >>> cgpo.concatenate([[1.0, 2.0], 3.0])
    array([1., 2., 3.])
    """
    return np.concatenate([np.atleast_1d(_any(part)) for part in arrays], axis=axis)


def stack(arrays: Any, axis: int = 0) -> Any:
    """Arrays of one shape, side by side along a new axis.

    >>> import cgpo
    >>> cgpo.stack([[1.0, 2.0], [3.0, 4.0]]).shape
    (2, 2)
    """
    return np.stack([_any(part) for part in arrays], axis=axis)


__all__ = [
    "Array", "abs", "array", "atan2", "clamp", "clip", "concatenate", "cos", "cross", "dot", "exp", "floor", "log", "maximum",
    "mean", "minimum", "norm", "sigmoid", "sign", "sin", "smooth_norm", "sqrt", "square", "stack", "sum", "sum_squares",
    "tan", "tanh", "where", "wrap",
]  # fmt: skip
