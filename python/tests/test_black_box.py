"""Environments of Gymnasium as tasks: beside the same simulator as a program outside, and what goes wrong."""

import pathlib
import subprocess
import sys
import traceback

import gymnasium
import numpy as np
import pytest

import cgpo


class Tank(gymnasium.Env):
    """Water flows out through a hole, a pump fills: the level should stay near 1, and pumping costs."""

    observation_space = gymnasium.spaces.Box(0, np.inf, (1,))
    action_space = gymnasium.spaces.Box(0, 2, (1,))
    spec = None
    breaks = False

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.level = self.np_random.uniform(0.2, 1.8)
        return np.array([self.level]), {}

    def step(self, action):
        assert self.action_space.contains(action)
        if self.breaks:
            raise OSError("the pump is stuck")
        pump = 0.5 * float(action[0])
        self.level = max(0.0, self.level + 0.1 * (1.6 * pump - 0.6 * self.level**0.5))
        info = {"costs": {"energy": pump, "wear": pump**2}}
        return np.array([self.level]), 1 - (self.level - 1) ** 2, self.level > 3, False, info


def train(task, out, **arguments):
    arguments = {"iterations": 3, "environments": 70, "seed": 1, **arguments}
    return cgpo.train(task, out=out, progress=False, **arguments)


@pytest.mark.parametrize("algorithm", ["ppo-lag", "cpo", "mb-cgpo"])
def test_number_of_threads_changes_no_bit(algorithm):
    box = cgpo.black_box(Tank, costs={"energy": 20.0}, horizon=40)
    one, many = (train(box, f"run{n}", algo=algorithm, threads=n) for n in (1, 3))
    for name in one.log:
        if name != "seconds":
            np.testing.assert_array_equal(one.log[name], many.log[name], err_msg=name)
    assert (one.folder / "checkpoint.safetensors").read_bytes() == (many.folder / "checkpoint.safetensors").read_bytes()


def test_training_sees_the_environments_numbers():
    """Sums of the first iteration's episodes against a second rollout of the environment, by hand."""
    heard = []

    class Watched(Tank):
        def reset(self, **arguments):
            self.mine = []
            heard.append(self.mine)
            return super().reset(**arguments)

        def step(self, action):
            result = super().step(action)
            self.mine.append((result[1], result[4]["costs"]["energy"]))
            return result

    box = cgpo.black_box(Watched, costs={"energy": 20.0}, horizon=40, name="watched")
    heard.clear()
    run = train(box, "run", algo="ppo-lag", iterations=1, threads=1)
    whole = [np.sum(episode, axis=0) for episode in heard if len(episode) == 40]
    batches = [np.mean(whole[first : first + 70], axis=0) for first in range(len(whole) - 69)]
    assert any(np.allclose([run.log["return"][0], run.log["costs"][0, 0]], batch, rtol=1e-6) for batch in batches)


def test_learns_within_its_limit():
    box = cgpo.black_box(Tank, costs={"energy": 14.0}, horizon=40)
    run = train(box, "run", algo="cpo", iterations=30)
    assert run.log["return"][-1] > run.log["return"][0] + 1
    assert run.log["costs"][-1, 0] < 15


def test_a_function_is_enough_and_limits_are_those_of_train():
    gymnasium.register("tests/Tank-v3", lambda: Tank(), max_episode_steps=30)
    run = train(lambda: gymnasium.make("tests/Tank-v3", disable_env_checker=True), "run", algo="ppo-lag", limits=[9, 8])
    configuration = run.configuration
    assert configuration["task.name"] == "Tank-v3" and configuration["horizon"] == 30
    assert configuration["costs"] == ["energy", "wear"] and configuration["limits"] == [9, 8]
    assert run.evaluate(episodes=70)["costs"][1]["name"] == "wear"
    assert run.policy(np.array([[1.0]])).shape == (1, 1)


def test_environments_of_a_black_box_are_the_box():
    box = cgpo.black_box(Tank, costs={"energy": 20.0}, horizon=5)
    environments = cgpo.make_vec(box, 3)
    environments.reset(seed=1)
    observations, rewards, terminated, truncated, infos = environments.step(np.full((3, 1), 0.5))
    np.testing.assert_allclose(infos["costs"]["energy"], 0.75)
    np.testing.assert_allclose(rewards, 1 - (observations[:, 0] - 1) ** 2, rtol=1e-5)
    for _ in range(6):
        *_, truncated, _ = environments.step(np.zeros((3, 1)))
    assert not truncated.any()


class Discrete(Tank):
    action_space = gymnasium.spaces.Discrete(3)


class Broken(Tank):
    breaks = True


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: cgpo.black_box(Tank), "say horizon"),
        (lambda: cgpo.black_box(dict), "returns a gymnasium.Env, not dict"),
        (lambda: cgpo.black_box(gymnasium.make("Pendulum-v1")), r"a function that makes an environment.*cgpo.black_box\(lambda"),
        (lambda: cgpo.black_box("Pendulum-v1"), "a function that makes an environment"),
        (lambda: cgpo.train(gymnasium.make("Pendulum-v1"), "cpo"), r"give cgpo.black_box\(lambda: gymnasium.make"),
        (lambda: train(cgpo.black_box(Tank, horizon=9), "r", algo="cpo"), "what may its costs be.*'energy': 10.0, 'wear': 10.0"),
        (lambda: train(cgpo.black_box(Tank, horizon=9, costs="wear"), "r", algo="cpo"), "limits={'wear': 10.0}"),
        (lambda: cgpo.black_box(Tank, horizon=9, costs=5), "costs must be the name of a cost"),
        (lambda: cgpo.black_box(Discrete, horizon=9), r"actions must be numbers within bounds \(a Box\), not Discrete"),
        (lambda: cgpo.black_box(Tank, horizon=9, name="ant"), "there is a task ant already"),
        (lambda: cgpo.black_box(Tank, horizon=9, name="a b"), "name may have letters"),
        (lambda: train(cgpo.black_box(Broken, costs={"energy": 9}, horizon=9), "r", algo="cpo"), "OSError: the pump is stuck"),
        (lambda: train(cgpo.black_box(Tank, costs={"heat": 9}, horizon=9), "r", algo="cpo"), "info has no cost 'heat'; it has costs"),
        (lambda: train(cgpo.black_box(Tank, horizon=9), "r", algo="cgpo", limits=[9, 9]), "not differentiable"),
    ],
)
def test_says_what_is_wrong(call, sentence):
    with pytest.raises(cgpo.Error, match=sentence):
        call()


def test_a_fault_of_the_environment_is_the_cause():
    with pytest.raises(cgpo.Error, match="OSError: the pump is stuck") as caught:
        train(cgpo.black_box(Broken, costs={"energy": 9}, horizon=9), "r", algo="cpo")
    cause = caught.value.__cause__
    assert type(cause) is OSError and "step" in [frame.name for frame in traceback.extract_tb(cause.__traceback__)]
    with pytest.raises(cgpo.Error) as caught:
        cgpo.train("pendulum")
    assert caught.value.__cause__ is None


def test_limits_by_name_are_enough():
    run = train(cgpo.black_box(Tank, horizon=9), "run", algo="cpo", iterations=1, limits={"wear": 3})
    assert run.limits == {"wear": 3.0}
    assert train(cgpo.black_box(Tank, horizon=9, costs=[]), "free", algo="ppo", iterations=1).limits == {}


def test_a_run_of_another_process_wants_its_black_box():
    code = f"""
import sys; sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
import cgpo, test_black_box as t
t.train(cgpo.black_box(t.Tank, horizon=9, costs={{"wear": 3}}, name="elsewhere"), "far", algo="cpo", iterations=1)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    run = cgpo.load("far")
    for ask in (run.evaluate, run.report):
        with pytest.raises(cgpo.Error, match=r"unknown task 'elsewhere'.*make it first: cgpo.black_box\("):
            ask(episodes=8)
    cgpo.black_box(Tank, horizon=9, costs={"wear": 3}, name="elsewhere")
    assert run.evaluate(8)["costs"][0]["name"] == "wear"


def test_closes_its_environments():
    opened, closed = [], []

    class Counted(Tank):
        def __init__(self):
            opened.append(self)

        def close(self):
            closed.append(self)

    train(cgpo.black_box(Counted, costs={"energy": 20.0}, horizon=40), "run", algo="ppo-lag")
    assert opened and len(closed) == len(opened)
