"""Single numbers that are not known yet, and what is made of them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np


class Source(NamedTuple):
    """What a number is that the task's moment has: `text` of a task file at a moment, or one of its entries."""

    trace: Any
    moment: str
    text: str
    at: int | None = None
    size: int = 1


class Node:
    """One number that is not known yet: an operation and what it is of, or something that the task's moment has.

    Entries of arrays are these, or floats where a number is known already.
    """

    __slots__ = ("boolean", "op", "operands", "serial", "source")
    made = 0

    def __init__(self, op: str, operands: Any = (), source: Source | None = None, boolean: bool = False) -> None:
        self.op = op
        self.operands = operands
        self.source = source  # of an op that is none: a Source
        self.boolean = boolean
        Node.made += 1
        self.serial = Node.made

    # Products and sums of whole arrays are left to NumPy, which calls these.
    def __add__(self, other: Any) -> Node | float:
        return apply("add", self, other)

    def __radd__(self, other: Any) -> Node | float:
        return apply("add", other, self)

    def __mul__(self, other: Any) -> Node | float:
        return apply("mul", self, other)

    def __rmul__(self, other: Any) -> Node | float:
        return apply("mul", other, self)


def _quotient(a: float, b: float) -> float:
    return (
        a / b
        if b != 0.0
        else math.nan
        if a == 0.0 or math.isnan(a)
        else math.copysign(math.inf, a) * math.copysign(1.0, b)
    )


def _by_numpy(function: Any) -> Any:
    def plain(*values: Any) -> Any:
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


def apply(op: str, *operands: Any) -> Node | float:
    """The number that an operation gives: known if all of its operands are."""
    plain, boolean = _PLAIN[op]
    if not any(isinstance(operand, Node) for operand in operands):
        return plain(*operands)
    if op == "where" and not isinstance(operands[0], Node):
        return operands[1] if operands[0] else operands[2]
    if op == "where":
        boolean = all(isinstance(o, (bool, np.bool_)) or getattr(o, "boolean", False) for o in operands[1:])
    return Node(op, operands, boolean=boolean)


def is_boolean(entry: Node | float) -> bool:
    return entry.boolean if isinstance(entry, Node) else isinstance(entry, bool)
