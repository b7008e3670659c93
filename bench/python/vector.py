"""1024 Ants with random NumPy actions: our VectorEnv beside gymnasium's own vectorised Ant, all cores each.

Gymnasium's is the faster one of its two ways: 1024 in this process, or a process for each core, which share as many steps.
"""

import os
import time

import gymnasium
import numpy as np

import cgpo
import table

ROUNDS = 5
ANTS = 1024


def speed(environments, steps):
    """Environment steps a second, the drawing of actions included."""
    random = np.random.default_rng(0)
    shape = environments.action_space.shape
    begin = time.perf_counter()
    for _ in range(steps):
        environments.step(random.uniform(-1, 1, shape).astype(np.float32))
    return steps * environments.num_envs / (time.perf_counter() - begin)


def measure():
    ours = cgpo.make_vec("ant", ANTS)
    theirs = {
        "1024 in one process": (gymnasium.make_vec("Ant-v5", ANTS, vectorization_mode="sync"), 2),
        "a process a core": (
            gymnasium.make_vec("Ant-v5", len(os.sched_getaffinity(0)), vectorization_mode="async"), 500,
        ),
    }  # fmt: skip
    for environments in (ours, *(one for one, _ in theirs.values())):
        environments.reset(seed=0)
        speed(environments, 1)
    best, *others = table.in_turns(
        ROUNDS, lambda: -speed(ours, 200), *(lambda one=one, n=n: -speed(one, n) for one, n in theirs.values())
    )
    for one, _ in theirs.values():
        one.close()
    other, way = min(zip(others, theirs))
    ratio = best / other
    return [
        table.Row(
            f"`cgpo.make_vec(\"ant\", {ANTS})` beside gymnasium's Ant-v5 ({way}), random actions, steps a second",
            f"{-best:,.0f}".replace(",", " "), f"{-other:,.0f}".replace(",", " "), ratio, "≥ 100", ratio >= 100,
        )
    ]  # fmt: skip


if __name__ == "__main__":
    table.show(measure())
