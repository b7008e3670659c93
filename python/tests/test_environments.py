"""Environments beside Gymnasium's own machinery, its checker, and the trainer's simulator."""

import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import cgpo
from cgpo.environments import Environment, VectorEnvironment

ROBOTS = ["cartpole", "reacher", "halfcheetah", "ant", "swimmer", "hopper", "walker2d", "humanoid", "quadruped"]
TASKS = ["function", "function-floor", *ROBOTS]


def actions_of(environments, steps, seed=0):
    random = np.random.default_rng(seed)
    shape = (steps, *environments.action_space.shape)
    return random.uniform(-1.2, 1.2, shape).astype(np.float32)  # beyond the range, too


@pytest.mark.parametrize("task", TASKS)
def test_gymnasiums_checker_passes(task):
    name = cgpo._registration.identifier(task)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*Box observation space m.*infinity")  # which Gymnasium's robots have, too
        check_env(gymnasium.make(name, disable_env_checker=True).unwrapped, skip_render_check=True)


def test_names_in_gymnasium():
    ours = [name for name in gymnasium.registry if name.startswith("cgpo/")]
    assert {"cgpo/Ant-v0", "cgpo/HalfCheetah-v0", "cgpo/CartPole-v0", "cgpo/FunctionFloor-v0"} <= set(ours)
    assert gymnasium.make("cgpo/Ant-v0").spec.max_episode_steps == cgpo.make("ant").horizon


def test_an_episode_may_be_made_longer():
    environment = gymnasium.make("cgpo/Function-v0", max_episode_steps=150)
    environment.reset(seed=0)
    steps = 1
    while not any(environment.step(np.zeros(1))[2:4]):
        steps += 1
    assert steps == 150 > cgpo.make("function").horizon


@pytest.mark.parametrize("first", ["cgpo, gymnasium", "gymnasium, cgpo"])
def test_registers_whichever_is_imported_first(first):
    code = f"import {first}; print(gymnasium.make('cgpo/Ant-v0').spec.max_episode_steps)"
    assert int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout) > 0
    code = "import gymnasium; print(gymnasium.make('cgpo:cgpo/Ant-v0').spec.max_episode_steps)"
    assert int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout) > 0


def test_import_brings_neither_gymnasium_nor_torch():
    code = "import sys, cgpo; print([m for m in ('gymnasium', 'torch', 'stable_baselines3') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def same_infos(ours, theirs, mode):
    """All that theirs says ours says, too. Ours has costs of a step that ended in the same step as well."""
    for key, value in theirs.items():
        if key.startswith("_"):
            continue
        where = theirs[f"_{key}"]
        assert (ours[f"_{key}"] >= where).all()
        if isinstance(value, dict):
            same_infos(ours[key], value, mode)
        elif key == "final_obs":
            assert all((ours[key][i] == value[i]).all() for i in np.flatnonzero(where))
            assert all(ours[key][i] is None for i in np.flatnonzero(~where))
        else:
            np.testing.assert_array_equal(ours[key][where], value[where])


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("task, steps", [("function", 7), ("hopper", 40), ("humanoid", 30)])
def test_vector_is_what_gymnasium_makes_of_single_ones(task, steps, mode):
    """Episodes end by themselves (hopper, humanoid fall) and at their length, each lane at its own time."""
    count = 37  # more than a block
    ours = cgpo.make_vec(task, count, max_episode_steps=steps, autoreset_mode=mode, threads=2)
    theirs = SyncVectorEnv([lambda: Environment(task, max_episode_steps=steps)] * count, autoreset_mode=mode)
    np.testing.assert_array_equal(ours.reset(seed=5)[0], theirs.reset(seed=5)[0])
    ends = 0
    for actions in actions_of(ours, 3 * steps + 5):
        left, right = ours.step(actions), theirs.step(actions)
        for mine, other in zip(left[:4], right[:4]):
            np.testing.assert_array_equal(mine, other)
        same_infos(left[4], right[4], mode)
        over = left[2] | left[3]
        ends += over.sum()
        if mode == AutoresetMode.DISABLED and over.any():
            options = {"reset_mask": over}
            np.testing.assert_array_equal(ours.reset(options=dict(options))[0], theirs.reset(options=dict(options))[0])
    assert ends >= 2 * count


@pytest.mark.parametrize("task", ["ant", "function"])
def test_number_of_threads_changes_no_bit(task):
    def episode(threads):
        environments = cgpo.make_vec(task, 100, threads=threads, max_episode_steps=9)
        heard = [environments.reset(seed=3)[0]]
        for actions in actions_of(environments, 25):
            observations, rewards, terminated, truncated, infos = environments.step(actions)
            heard += [observations, rewards, terminated, truncated, infos["cost"]]
        return heard

    for one, many in zip(episode(1), episode(3)):
        np.testing.assert_array_equal(one, many)


def test_values_are_those_of_the_trainers_simulator():
    """Cost and reward of HalfCheetah against its formulas, from the states: speed along x and the weight of control."""
    environments = cgpo.make_vec("halfcheetah", 8)
    environments.reset(seed=1)
    for actions in actions_of(environments, 10):
        before = environments.states
        _, rewards, _, _, infos = environments.step(actions)
        speed = (environments.states[:, 0] - before[:, 0]) / environments._core.seconds
        effort = 0.1 * np.square(np.clip(actions, -1, 1)).sum(axis=1)
        np.testing.assert_allclose(infos["cost"], np.abs(speed), rtol=2e-3, atol=2e-3)
        np.testing.assert_allclose(rewards, speed - effort, rtol=2e-3, atol=2e-3)


def test_states_can_be_set():
    environments = cgpo.make_vec("ant", 5)
    environments.reset(seed=1)
    states, actions = environments.states, actions_of(environments, 1)[0]
    first = environments.step(actions)[0]
    environments.states = states
    np.testing.assert_array_equal(environments.step(actions)[0], first)
    with pytest.raises(cgpo.Error, match=r"states must have the shape \(5, "):
        environments.states = states[:2]


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_a_diverged_environment_ends_and_says_so(mode):
    environments = cgpo.make_vec("ant", 40, autoreset_mode=mode)
    before, _ = environments.reset(seed=1)
    actions = actions_of(environments, 1)[0]
    healthy = cgpo.make_vec("ant", 40, autoreset_mode=mode)
    healthy.reset(seed=1)
    actions[33, 2] = np.nan
    observations, rewards, terminated, truncated, infos = environments.step(actions)
    assert np.flatnonzero(infos["diverged"]).tolist() == [33] == np.flatnonzero(terminated).tolist()
    assert not truncated.any() and rewards[33] == 0 == infos["cost"][33]
    assert np.isfinite(observations).all()
    shown = infos["final_obs"] if mode == "SameStep" else observations
    np.testing.assert_array_equal(shown[33], before[33])
    others = np.arange(40) != 33
    actions[33] = 0
    np.testing.assert_array_equal(healthy.step(actions)[0][others], observations[others])
    environment = cgpo.make("ant")
    environment.reset(seed=1)
    *_, terminated, truncated, info = environment.step(np.full(8, np.nan))
    assert terminated and info["diverged"]


def test_make_vec_of_gymnasium():
    environments = gymnasium.make_vec("cgpo/Ant-v0", num_envs=3, costs=["energy"], limits=[500])
    assert isinstance(environments, VectorEnvironment) and environments.limits == {"energy": 500.0}
    assert environments.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    assert environments.horizon == cgpo.make("ant").horizon
    wrapped = gymnasium.wrappers.vector.RecordEpisodeStatistics(cgpo.make_vec("function", 4, max_episode_steps=5))
    wrapped.reset(seed=1)
    total = np.zeros(4)
    for actions in actions_of(wrapped, 5):
        _, rewards, _, _, infos = wrapped.step(actions)
        total += rewards
    np.testing.assert_allclose(infos["episode"]["r"], total)


@pytest.mark.parametrize("mode", ["rgb_array", "human"])
def test_nothing_is_drawn_for_who_asks_for_pictures(mode):
    """Stable-Baselines3 makes environments so, and goes on without pictures only after a TypeError."""
    with pytest.warns(UserWarning, match="draw no pictures"):
        environment = gymnasium.make("cgpo/CartPole-v0", render_mode=mode)
    assert environment.render_mode is None
    environment.reset(seed=1)
    with pytest.warns(UserWarning, match="draw no pictures"):
        assert cgpo.make_vec("function", 2, render_mode=mode).render_mode is None


def test_limits_may_be_named():
    assert cgpo.make_vec("ant", 2, limits={"energy": 500, "speed": 3}).limits == {"energy": 500.0, "speed": 3.0}
    assert cgpo.make("ant", costs=["speed", "energy"], limits={"energy": 5, "speed": 3}).limits == {"speed": 3.0, "energy": 5.0}


def test_options_and_settings_reach_the_task():
    mine = cgpo.make("ant", settings={"task.engine": "mujoco"})
    mine.reset(seed=1)
    ours = cgpo.make("ant")
    ours.reset(seed=1)
    action = np.full(8, 0.5)
    assert not np.array_equal(mine.step(action)[0], ours.step(action)[0])


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: cgpo.make("cheetah"), "unknown task 'cheetah'"),
        (lambda: cgpo.make("ant", costs=["sped"]), "cost"),
        (lambda: cgpo.make_vec("ant", 0), "num_envs must be a whole number from 1"),
        (lambda: cgpo.make_vec("ant", 2, autoreset_mode="later"), "autoreset_mode must be NextStep, SameStep or Disabled"),
        (lambda: cgpo.make("ant", costs=5), "costs must be the name of a cost, or a list of names, not 5"),
        (lambda: cgpo.make_vec("ant", 2, limits={"sped": 3}), "task ant has no cost 'sped'"),
        (lambda: cgpo.make("ant", settings={"task.colour": 1}), "task.colour"),
        (lambda: cgpo.make("ant").step(np.zeros(8)), "reset the environment before its first step"),
        (lambda: cgpo.make_vec("ant", 2).reset(options={"reset_mask": [True, False]}), "reset_mask must be a NumPy array"),
        (lambda: cgpo.make_vec("ant", 2).reset(options={"reset_mask": np.array([True, False])}), "reset_mask is for later resets"),
    ],
)
def test_says_what_is_wrong(call, sentence):
    with pytest.raises(cgpo.Error, match=sentence):
        call()


def test_steps_of_the_wrong_kind_are_refused():
    environments = cgpo.make_vec("function", 2, max_episode_steps=1, autoreset_mode="Disabled")
    environments.reset(seed=1)
    with pytest.raises(cgpo.Error, match=r"actions must have the shape \(2, 1\), not \(3, 1\)"):
        environments.step(np.zeros((3, 1)))
    environments.step(np.zeros((2, 1)))
    with pytest.raises(cgpo.Error, match="the episode of environment 0 is over: reset it"):
        environments.step(np.zeros((2, 1)))


def test_step_of_safety_gymnasium():
    six, five = cgpo.safety.make("Ant"), cgpo.make("ant")
    np.testing.assert_array_equal(six.reset(seed=1)[0], five.reset(seed=1)[0])
    for action in actions_of(five, 5):
        observation, reward, cost, terminated, truncated, info = six.step(action)
        left, right = (observation, reward, terminated, truncated, info), five.step(action)
        np.testing.assert_array_equal(left[0], right[0])
        assert left[1:] == right[1:] and cost == info["cost"] and type(cost) is float


def test_vector_of_safety_gymnasium():
    six = cgpo.safety.make_vec("cgpo/Function-v0", 4, max_episode_steps=2)
    five = cgpo.make_vec("function", 4, max_episode_steps=2, autoreset_mode="SameStep")
    np.testing.assert_array_equal(six.reset(seed=1)[0], five.reset(seed=1)[0])
    for actions in actions_of(five, 4):
        observations, rewards, cost, terminated, truncated, infos = six.step(actions)
        others = five.step(actions)
        np.testing.assert_array_equal(observations, others[0])
        np.testing.assert_array_equal(cost, others[4]["cost"])
    assert (infos["final_observation"][2] == others[4]["final_obs"][2]).all()


@pytest.mark.parametrize("name", ["ant", "Ant", "cgpo/Ant-v0", "Ant-v0"])
def test_safety_knows_names_of_gymnasium(name):
    assert cgpo.safety.make(name)._core.task == "ant"


VELOCITY = {"Ant": (27, 8), "HalfCheetah": (17, 6), "Hopper": (11, 3), "Humanoid": (376, 17), "Swimmer": (8, 2), "Walker2d": (17, 6)}


@pytest.mark.parametrize("robot", VELOCITY)
def test_velocity_tasks_of_safety_gymnasium(robot):
    name = f"Safety{robot}Velocity-v1"
    six = cgpo.safety.make(name)
    five = gymnasium.make(f"Safety{robot}VelocityGymnasium-v1")
    assert (six.observation_space.shape[0], six.action_space.shape[0]) == VELOCITY[robot]
    assert five.spec.max_episode_steps == six.horizon == 1000 and six.limits == {"speeding": 25.0}
    assert six.action_space == five.action_space
    assert six.action_space.high[0] == np.float32(0.4 if robot == "Humanoid" else 1.0)
    plain = gymnasium.make(f"cgpo/{name}")
    assert plain.action_space.high[0] == 1.0
    for environment in (six, five, plain):
        environment.reset(seed=1)
    for action in actions_of(plain, 5):
        given = action * six.action_space.high
        observation, reward, cost, terminated, truncated, info = six.step(given)
        assert cost in (0.0, 1.0) and type(cost) is float
        other = five.step(given)
        np.testing.assert_array_equal(observation, other[0])
        assert (reward, terminated, truncated, info) == other[1:]
        np.testing.assert_allclose(observation, plain.step(action)[0], rtol=1e-3, atol=1e-3)
    several = cgpo.safety.make_vec(f"Safety{robot}VelocityGymnasium-v1", 3)
    assert several.single_action_space == six.action_space
    assert several.step(several.action_space.sample() if several.reset(seed=2) else None)[2].shape == (3,)


@pytest.mark.parametrize("robot", VELOCITY)
def test_gymnasiums_checker_passes_the_velocity_tasks(robot):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*Box observation space m.*infinity")
        name = f"Safety{robot}VelocityGymnasium-v1"
        check_env(gymnasium.make(name, disable_env_checker=True).unwrapped, skip_render_check=True)
