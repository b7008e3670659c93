"""Functions of traced arrays beside NumPy's, and what is said of their misuse."""

import math

import numpy as np
import pytest

import cgpo
from some_tasks import probe, refusal, with_methods

FUNCTIONS = {
    "arithmetic": lambda v: 2 * v[0] - v[1] / 3 + (-v[2]) * v[1] - (v[0] - (v[1] - v[2])),
    "grouping": lambda v: (v[0] - v[1]) * (v[2] + 1) / (2 / (v[0] * v[1])) - -v[0],
    "powers": lambda v: v**2 + v**3 - v**-1 + np.abs(v) ** 0.5 + np.abs(v) ** 1.7 + 2**v + v**0,
    "whole parts": lambda v: v // 0.4 + v % 0.4 + np.ceil(v) + np.floor(v),
    "in place": lambda v: _added(v),
    "trigonometry": lambda v: np.sin(v) + np.cos(v) * np.tan(v) + np.arctan2(v, 2) + np.arctan(v),
    "inverses": lambda v: np.arcsin(v / 2) + np.arccos(v / 2),
    "exponentials": lambda v: np.exp(v) + np.log(v * v) + np.tanh(v) + np.sinh(v) + np.cosh(v) + np.log1p(v * v),
    "roots": lambda v: np.sqrt(v * v) + np.hypot(v, 1) + np.sign(v) + np.square(v) + np.reciprocal(v),
    "comparisons": lambda v: (
        (v > 0) + 2 * (v <= 0.25) + 4 * (v == 0.5) + 8 * (v != 0.5) + 16.0 * (0 < v) + 32 * (v > 0.25) + (v >= 0.5) * 64
    ),
    "logic": lambda v: np.where((v > 0) & ~(v > 0.3) | (v < -1), v, -1.0) + np.logical_xor(v > 0, v > 0.3),
    "truth": lambda v: 1.0 * np.logical_and(v, v > 0) + 1.0 * np.logical_not(v) + 1.0 * (v > -1).any() + (v > -9).all(),
    "extremes": lambda v: v.min() + 2 * v.max() + np.minimum(v, 0.1) + np.maximum(v, 0) + np.clip(v, -1, 0.3).sum(),
    "sums": lambda v: v.sum() + np.mean(v) + np.prod(v) + np.cumsum(v) + np.sum(v[1:]),
    "products": lambda v: np.array([[1.0, 2, 3], [4, 5, 6]]) @ v + v @ np.arange(6.0).reshape(3, 2) + np.dot(v, v),
    "matrices": lambda v: (np.outer(v, v) @ np.outer(v, [1.0, 2, 3])).sum(axis=0) + np.cross(v, [1.0, 2, 3]),
    "lengths": lambda v: np.linalg.norm(v) + cgpo.norm(v[:2]) + cgpo.smooth_norm(v, 0.1) + cgpo.sum_squares(v),
    "norms": lambda v: np.linalg.norm(np.stack([v, 2 * v]), axis=1),
    "shapes": lambda v: np.concatenate([v[::-1], np.stack([v, v]).ravel(), v.reshape(3, 1)[:, 0], v[None].T.squeeze()]),
    "picking": lambda v: np.hstack([v[-1], v[[2, 0]], v[np.array([True, False, True])], np.roll(v, 1), np.flip(v)]),
    "ours": lambda v: (
        cgpo.wrap(3 * v) + cgpo.sigmoid(v) + cgpo.clamp(v, -1, 0.3) + cgpo.atan2(v, 2) + cgpo.where(v > 0, v, 0)
    ),
    "lists": lambda v: cgpo.array([[v[0], 1.0], [v[1], v[2]]]) @ [1.0, 2.0],
    "sums of products": lambda v: np.einsum("i,ij->j", v, np.arange(9.0).reshape(3, 3)) + np.trace(np.outer(v, v)),
    "steps": lambda v: np.diff(v) + np.expand_dims(v[0], 0),
}


def _added(v):
    w = 1.0 * v
    w += 1
    w *= v
    return w


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_give_what_numpys_give(name):
    function = FUNCTIONS[name]
    state = np.array([0.5, -1.5, 0.25])
    with np.errstate(invalid="ignore"):
        expected = np.asarray(function(state.copy()), dtype=float)
    seen = probe(with_methods(observe=lambda self, state: function(state))).observe(state)
    assert seen == pytest.approx(expected.reshape(-1).tolist(), rel=1e-12, abs=1e-14)
    assert np.shape(function(cgpo.Array(cgpo.array([Known(x) for x in state])._entries))) == expected.shape


class Known(cgpo.Array):
    """A number that is known, in a traced array."""

    __slots__ = ()

    def __init__(self, number):
        super().__init__(float(number))


def test_a_thousand_steps_in_a_row_are_no_trouble():
    def step(self, state, action):
        for _ in range(1000):
            state = state + 0.001 * np.sin(state)
        return state

    task = probe(with_methods(step=step))
    state = np.array([0.5, -1.5, 0.25])
    assert task.step(state, [0.0, 0.0])[:3] == pytest.approx(step(None, state, None).tolist(), rel=1e-12)


def test_numbers_keep_all_their_digits():
    near = [lambda x: x * 0.1, lambda x: x * math.nextafter(0.1, 1), lambda x: x * 0.0, lambda x: x * -0.0]
    exact = [0.1, 1e-300, -1e300, 2.0**-1074, math.pi, 1 / 3, -0.0]
    seen = probe(with_methods(observe=lambda self, state: exact)).observe([0.0, 0.0, 0.0])
    assert [x.hex() for x in seen] == [x.hex() for x in exact]
    seen = probe(with_methods(observe=lambda self, state: [f(state[0]) for f in near])).observe([0.5, 0.0, 0.0])
    assert [x.hex() for x in seen] == [f(0.5).hex() for f in near]


MISUSES = {
    "if": (lambda v: 1.0 if v[0] > 0 else 0.0, "cgpo.where"),
    "and": (lambda v: (v[0] > 0) and v[1], "cgpo.where"),
    "chain": (lambda v: 0 < v[0] < 1, "cgpo.where"),
    "max": (lambda v: max(v[0], v[1]), "cgpo.maximum"),
    "in": (lambda v: 0.5 in v, "cgpo.where"),
    "float": (lambda v: float(v[0]), "no number of Python's"),
    "int": (lambda v: int(v[0]), "cgpo.floor"),
    "math": (lambda v: math.sin(v[0]), "cgpo.sin"),
    "index": (lambda v: [1, 2, 3][v[0]], "cgpo.floor"),
    "traced index": (lambda v: v[v[0]], "cgpo.where"),
    "range": (lambda v: range(v[0]), "cgpo.floor"),
    "len": (lambda v: len(v[0]), "no length"),
    "set": (lambda v: v.__setitem__(0, 1.0), "cgpo.array"),
    "into numpy": (lambda v: np.zeros(3).__setitem__(0, v[0]), "cgpo.array"),
    "np.array": (lambda v: np.array([v[0], 1.0]), "cgpo.array"),
    "unknown ufunc": (lambda v: np.spacing(v), "spacing.*they know"),
    "unknown function": (lambda v: np.fft.fft(v), "fft.*they know"),
    "shapes": (lambda v: v + v[:2], r"\(3,\) and .*\(2,\)"),
    "no entry": (lambda v: v[7], r"\[7\] is not in"),
    "numbers with &": (lambda v: v & v, "conditions"),
    "text": (lambda v: v + "x", "no array of numbers"),
    "not finite": (lambda v: v + math.nan, "not finite"),
}


@pytest.mark.parametrize("name", MISUSES)
def test_misuse_is_a_sentence(name):
    function, match = MISUSES[name]
    refusal(with_methods(observe=lambda self, state: function(state)), match)
