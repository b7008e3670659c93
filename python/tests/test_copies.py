"""Runs, environments and robots as copies and in pickles; paths that stay right."""

import copy
import os
import pathlib
import pickle

import gymnasium
import numpy as np
import pytest

import cgpo
from some_tasks import Pole


def pickled(thing):
    return pickle.loads(pickle.dumps(thing))


@pytest.fixture
def run():
    return cgpo.train("function", iterations=2, environments=8, settings={"critic.steps": 4}, out="run", progress=False)


@pytest.mark.parametrize("copied", [pickled, copy.copy, copy.deepcopy])
def test_a_run_is_copied_before_and_after_it_acts(run, copied):
    before = copied(run)
    acted = run.policy([0.25])
    for one in (before, copied(run)):
        assert one.policy([0.25]) == acted and repr(one) == repr(run) and one.folder == run.folder


@pytest.mark.parametrize("copied", [pickled, copy.deepcopy])
@pytest.mark.parametrize(
    "make",
    [
        lambda: cgpo.make("ant", limits={"energy": 7}, max_episode_steps=9),
        lambda: cgpo.make_vec("ant", 3, limits={"energy": 7}, max_episode_steps=9, autoreset_mode="SameStep"),
        lambda: cgpo.safety.make_vec("Ant", 3, limits={"energy": 7}, max_episode_steps=9),
        lambda: cgpo.make(Pole, limits=[7]),
        lambda: gymnasium.make("cgpo/Ant-v0", limits={"energy": 7}),
    ],
)
def test_a_copy_of_environments_is_made_as_they_were(make, copied):
    first = make()
    one = copied(first)
    assert type(one) is type(first) and one.metadata == first.metadata
    assert one.unwrapped.limits == first.unwrapped.limits and one.unwrapped.horizon == first.unwrapped.horizon
    np.testing.assert_array_equal(one.reset(seed=1)[0], first.reset(seed=1)[0])
    assert one.spec == first.spec


def test_a_robot_is_copied():
    robot = cgpo.Robot(cgpo.Robot.EXAMPLE)
    for one in (pickled(robot), copy.deepcopy(robot)):
        assert one.at(qpos=[0.1]).site("tip").position == pytest.approx(robot.at(qpos=[0.1]).site("tip").position)


def test_a_run_is_found_from_another_folder(run):
    page = run.report(episodes=8)
    seen = repr(run)
    pathlib.Path("other").mkdir()
    os.chdir("other")
    assert run.policy([0.5]).shape == (1,) and len(run.log["return"]) == 2
    assert seen.startswith("Run('run': ") and f"Run('{run.folder}': " in repr(run)
    assert page.path.read_text() and page.path.is_absolute()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"x = = 3", "config.toml' is damaged: Invalid value"),
        (b"\xff\xfe", "config.toml' is damaged"),
        (b"x = 3", "config.toml' is damaged: it has no algorithm"),
        (None, "cannot read .*config.toml'"),
    ],
)
def test_a_damaged_configuration_is_an_error(run, text, sentence):
    file = run.folder / "config.toml"
    file.unlink() if text is None else file.write_bytes(text)
    for ask in (lambda: run.limits, lambda: repr(run), lambda: run.log):
        with pytest.raises(cgpo.Error, match=sentence):
            ask()
