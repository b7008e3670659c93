"""A task in Python, traced, beside the same task in C++: processor time of the same training on one thread."""

import sys

import numpy as np

import table
import training

sys.path.append(str(table.ROOT / "examples/python"))
from halfcheetah import HalfCheetah  # noqa: E402

ROUNDS = 5


def measure(iterations=30):
    training.of_package("halfcheetah", 1)
    _, configuration = training.of_package.last
    same = {
        key: value
        for key, value in configuration.items()
        if key.split(".")[0] not in ("version", "task", "costs", "limits", "iterations", "seed", "algorithm", "preset")
    }
    returns = {}

    def of(task, settings):
        seconds = training.of_package(task, iterations, settings)
        returns[task], _ = training.of_package.last
        return seconds

    ours, theirs = table.in_turns(ROUNDS, lambda: of(HalfCheetah, same), lambda: of("halfcheetah", same))
    there, here = returns["halfcheetah"], returns[HalfCheetah]
    print(f"last returns: {here:.3f} in Python, {there:.3f} in C++", file=sys.stderr)
    assert np.isfinite(here)
    ratio = ours / theirs
    return [
        table.Row(
            f"training on `examples/python/halfcheetah.py` beside the same task in C++, {iterations} iterations, "
            "processor seconds",
            f"{ours:.2f}", f"{theirs:.2f}", ratio, "≤ 1.05", ratio <= 1.05,
        )
    ]  # fmt: skip


if __name__ == "__main__":
    table.show(measure())
