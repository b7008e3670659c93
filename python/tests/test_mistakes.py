"""What is said of arguments of the wrong kind: one sentence of cgpo's each, wherever they are given."""

import subprocess
import sys

import gymnasium
import numpy as np
import pytest

import cgpo
from some_tasks import Pole, with_methods


class Forgot:
    actions, horizon = 1, 3

    def reset(self, random):
        return [0.0]

    def observe(self, state):
        return state


def train(*words, **arguments):
    return cgpo.train(*words, **{"iterations": 1, "progress": False, **arguments})


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: train(5), "task must be a name out of cgpo.tasks.*, not 5"),
        (lambda: train(b"ant"), "task must be a name"),
        (lambda: cgpo.check(None), "task must be a name"),
        (lambda: cgpo.make(object), "task must be a name"),
        (lambda: train(Forgot), r"Forgot is no cgpo.Task: write class Forgot\(cgpo.Task\)"),
        (lambda: cgpo.check(Forgot()), r"Forgot is no cgpo.Task: write class Forgot\(cgpo.Task\)"),
        (lambda: train("cgpo/Ant-v0"), "'cgpo/Ant-v0' is what Gymnasium calls it; the task is 'ant'"),
        (lambda: cgpo.make("HalfCheetah-v5"), "the task is 'halfcheetah'"),
        (lambda: train("function", callback=5), "callback must be a function .* and 5 is none"),
        (lambda: train("function", callback=[print, "x"]), "callback must be a function .* and 'x' is none"),
        (lambda: train("function", settings=["a=1"]), r"settings must be a dict, .*, not \['a=1'\]"),
        (lambda: cgpo.check("function", settings="a=1"), "settings must be a dict"),
        (lambda: train("function", costs=5), "costs must be the name of a cost, or a list of names, not 5"),
        (lambda: train("function", limits="few"), "limits must be numbers, or a dict of them by the names of costs, not 'few'"),
        (lambda: train("ant", costs=["speed"], limits={"energy": 3}), "limits has energy, and costs speed"),
        (lambda: train("function", 5), "algo must be a text, such as 'ppo-lag', not 5"),
        (lambda: cgpo.settings("function", preset=5), "preset must be a text"),
        (lambda: train("function", out=5), "out must be a path, not 5"),
        (lambda: cgpo.load(None), "folder must be a path, not None"),
    ],
)
def test_wrong_arguments_are_an_error_with_a_sentence(call, sentence):
    with pytest.raises(cgpo.Error, match=sentence) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_limits_are_taken_as_a_run_has_them():
    run = train("halfcheetah", limits={"speed": 300}, settings={"environments": 8, "critic.steps": 4}, out="one")
    assert run.limits == {"speed": 300.0}
    again = train("halfcheetah", limits=run.limits, settings={"environments": 8, "critic.steps": 4}, out="two")
    listed = train("halfcheetah", limits=[300], settings={"environments": 8, "critic.steps": 4}, out="three")
    assert again.configuration == listed.configuration
    np.testing.assert_array_equal(again.log["return"], listed.log["return"])


# ---- one's own ids -------------------------------------------------------------------------------------------------


def test_a_task_of_one_s_own_has_an_id():
    assert cgpo.register(Pole) == "cgpo/Pole-v0"
    environment = gymnasium.make("cgpo/Pole-v0", limits={"effort": 2})
    assert environment.spec.max_episode_steps == 100 and environment.unwrapped.limits == {"effort": 2.0}
    same = cgpo.make(Pole)
    np.testing.assert_array_equal(environment.reset(seed=3)[0], same.reset(seed=3)[0])
    assert gymnasium.make_vec("cgpo/Pole-v0", num_envs=3).reset(seed=3)[0].shape == (3, 3)
    asynchronous = gymnasium.make_vec("cgpo/Pole-v0", num_envs=2, vectorization_mode="sync")
    assert asynchronous.reset(seed=3)[0].shape == (2, 3)


def test_a_class_that_has_changed_takes_the_place_of_the_one_before():
    cgpo.register(with_methods(horizon=7), "tests/Changed-v1")
    assert cgpo.register(with_methods(horizon=9), "tests/Changed-v1") == "tests/Changed-v1"
    assert gymnasium.make("tests/Changed-v1").spec.max_episode_steps == 9


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("cgpo/Ant-v0", "Gymnasium has 'cgpo/Ant-v0' already"),
        ("Pendulum-v1", "Gymnasium has 'Pendulum-v1' already"),
        ("a b", "'a b' is no id for Gymnasium"),
        (5, "id must be a text"),
    ],
)
def test_ids_that_cannot_be(name, sentence):
    with pytest.raises(cgpo.Error, match=sentence):
        cgpo.register(Pole, name)


# ---- the package's names -------------------------------------------------------------------------------------------


def test_who_asks_for_what_is_not_installed_hears_so():
    code = """
import sys
sys.modules["torch"] = None
import cgpo
assert not hasattr(cgpo, "torch") and getattr(cgpo, "torch", 5) == 5
assert {"torch", "sb3", "safety", "environments", "register", "train"} <= set(dir(cgpo))
for ask in ("cgpo.torch", "import cgpo.torch", "from cgpo import torch"):
    try:
        exec(ask)
    except (AttributeError, ImportError) as error:
        print(type(error).__name__, error)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    sentence = "cgpo.torch needs PyTorch: pip install torch"
    assert said == [f"AttributeError {sentence}", f"ImportError {sentence}", f"ImportError {sentence}"]
