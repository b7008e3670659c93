"""What arrays make of several of their entries, as methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from cgpo._array import Array

_numpy: Any = np  # whose functions come back to us, and give arrays of ours


class Several:
    """Methods of an array that NumPy has as functions, too."""

    __slots__ = ()

    def sum(self, axis: Any = None, **others: Any) -> Array:
        """Sum of the entries, or of those along an axis.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.sum(), 3)
        'a[0] + a[1] + a[2]'
        """
        return _numpy.sum(self, axis=axis, **others)

    def prod(self, axis: Any = None, **others: Any) -> Array:
        """Product of the entries, or of those along an axis.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.prod(), 2)
        'a[0] * a[1]'
        """
        return _numpy.prod(self, axis=axis, **others)

    def mean(self, axis: Any = None, **others: Any) -> Array:
        """Mean of the entries, or of those along an axis.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.mean(), 2)
        '(a[0] + a[1]) / 2.0'
        """
        return _numpy.mean(self, axis=axis, **others)

    def min(self, axis: Any = None, **others: Any) -> Array:
        """The smallest entry, or those along an axis.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.min(), 2)
        'min(a[0], a[1])'
        """
        return _numpy.min(self, axis=axis, **others)

    def max(self, axis: Any = None, **others: Any) -> Array:
        """The largest entry, or those along an axis.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.max(), 2)
        'max(a[0], a[1])'
        """
        return _numpy.max(self, axis=axis, **others)

    def all(self, axis: Any = None, **others: Any) -> Array:
        """Whether all conditions hold.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: (v > 0).all(), 2)
        '0.0 < a[0] and 0.0 < a[1]'
        """
        return _numpy.all(self, axis=axis, **others)

    def any(self, axis: Any = None, **others: Any) -> Array:
        """Whether any of the conditions holds.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: (v > 0).any(), 2)
        '0.0 < a[0] or 0.0 < a[1]'
        """
        return _numpy.any(self, axis=axis, **others)

    def cumsum(self, axis: Any = None) -> Array:
        """Sums of the entries so far.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.cumsum(), 2)
        '[a[0], a[0] + a[1]]'
        """
        return _numpy.cumsum(self, axis=axis)

    def dot(self, other: Any) -> Array:
        """Sum of products of two vectors, or the product of matrices.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.dot([2, 3]), 2)
        'a[0] * 2.0 + a[1] * 3.0'
        """
        return _numpy.dot(self, other)

    def clip(self, min: Any = None, max: Any = None) -> Array:
        """Entries between two bounds.

        >>> import cgpo
        >>> cgpo.expression_of(lambda v: v.clip(-1, 1), None)
        'min(max(a, -1.0), 1.0)'
        """
        return _numpy.clip(self, min, max)
