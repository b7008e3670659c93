"""Tasks in Python that tests are about, and what asks them."""

import importlib.util
import pathlib

import numpy as np
import pytest

import cgpo
from cgpo import _core

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "models"


class Plain(cgpo.Task):
    """The least that a task has; tests change a part of it."""

    actions, horizon = 2, 5

    def reset(self, random):
        return [0.5, -1.5, 0.25]

    def step(self, state, action):
        return state

    def observe(self, state):
        return state

    def reward(self, before, action, after):
        return 0.0


def probe(task):
    return _core.Probe(task.__cgpo_task__())


def with_methods(base=Plain, **methods):
    return type("Changed", (base,), methods)


def refusal(task, match):
    with pytest.raises(cgpo.Error, match=match) as caught:
        task().definition()
    assert "\n" not in str(caught.value)


def example(name):
    """A module of examples/python."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / "python" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class HalfCheetah(example("halfcheetah").HalfCheetah):
    """The program's halfcheetah, word for word, with defaults of its own."""

    defaults = {"dual.learning_rate": 2.0, "bptt": {"window": 32}}


class CartPole(cgpo.Task):
    """The program's cartpole: a task that ends, and whose costs are no lengths."""

    horizon, period = 300, 0.04
    robot = cgpo.Robot(MODELS / "cartpole.xml", substeps=2, action_scale=3)
    limits = {
        "position": {"limit": -50, "stops_at_end": False},
        "energy": {"limit": 30, "stops_at_end": False, "standard": False},
    }

    def reset(self, random):
        return {"qpos": random.uniform(-0.01, 0.01, 2), "qvel": random.uniform(-0.01, 0.01, 2)}

    def observe(self, now):
        return np.concatenate([now.qpos, now.qvel])

    def reward(self, before, action, after):
        return 1.0

    def costs(self, before, action, after):
        return {"position": -(after.qpos[0] ** 2), "energy": np.square(action[0])}

    def done(self, before, action, after):
        return np.abs(after.qpos[1]) > 0.2


class Pole(cgpo.Task):
    """A pole that a torque holds upright, with little effort."""

    actions, horizon, period = 1, 100, 0.05
    limits = {"effort": 3.0}
    options = {"gravity": {"value": 9.81, "low": 0, "high": 20}}
    defaults = {"iterations": 60, "environments": 64, "window": 25, "critic.steps": 16}

    def reset(self, random):
        return random.uniform([-0.3, -0.1], [0.3, 0.1])

    def step(self, state, action):
        angle, speed = state
        for _ in range(5):
            speed = speed + 0.01 * (self.gravity * cgpo.sin(angle) + 8.0 * action[0])
            angle = angle + 0.01 * speed
        return [angle, speed]

    def observe(self, state):
        return [cgpo.sin(state[0]), cgpo.cos(state[0]), state[1]]

    def reward(self, before, action, after):
        return cgpo.cos(after[0])

    def costs(self, before, action, after):
        return {"effort": action[0] ** 2}

    def done(self, before, action, after):
        return cgpo.abs(after[0]) > 0.8
