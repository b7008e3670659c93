"""Tasks in Python beside those of the program, and what is said of mistakes."""

import json
import math
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import cgpo
from cgpo import _core
from some_tasks import MODELS, CartPole, HalfCheetah, Plain, Pole, probe, refusal, with_methods

# ---- the program's own tasks once more -----------------------------------------------------------------------------


@pytest.mark.parametrize(("ours", "theirs"), [(HalfCheetah, "halfcheetah"), (CartPole, "cartpole")])
def test_does_what_the_task_in_cpp_does(ours, theirs):
    a, b = probe(ours), _core.Probe(theirs)
    numbers = np.random.default_rng(3)
    actions = ours.robot.nu
    for stream in range(8):
        state = b.reset(1, stream)
        assert a.reset(1, stream) == state
        state = np.array(state) + 0.05 * numbers.normal(size=len(state))
        if theirs == "halfcheetah" and stream % 2:
            state[1] -= 0.1  # on the floor
        action = numbers.uniform(-1, 1, actions)
        assert a.observe(state) == pytest.approx(b.observe(state), rel=1e-12, abs=1e-12)
        assert a.step(state, action) == pytest.approx(b.step(state, action), rel=1e-10, abs=1e-10)
        assert a.gradient(state, action) == pytest.approx(b.gradient(state, action), rel=1e-9, abs=1e-9)
    for mine, other in zip(a.operations(), b.operations(), strict=True):
        assert abs(mine - other) <= 5


def test_step_is_what_its_method_does():
    task, compiled = Pole(), probe(Pole)
    numbers = np.random.default_rng(4)
    for _ in range(8):
        state, action = numbers.normal(size=2), numbers.uniform(-1, 1, 1)
        after = np.array(task.step(state, action))
        reward = task.reward(state, action, after)
        expected = [*after, *task.observe(after), reward, reward, float(abs(after[0]) > 0.8), action[0] ** 2]
        assert compiled.step(state, action) == pytest.approx(expected, rel=1e-12)
        near = 1e-6
        for i in range(2):
            rewards = []
            for side in (-near, near):
                moved = state + side * np.eye(2)[i]
                rewards.append(task.reward(moved, action, task.step(moved, action)))
            slope = (rewards[1] - rewards[0]) / (2 * near)
            assert compiled.gradient(state, action)[i] == pytest.approx(slope, rel=1e-6, abs=1e-7)


def test_methods_run_on_plain_numbers_too():
    task = HalfCheetah()
    compiled = probe(HalfCheetah)
    state = np.array(compiled.reset(2, 0))
    action = np.linspace(-0.5, 0.5, 6)
    result = np.array(compiled.step(state, action))
    now = task.robot.at(state[:9], state[9:])
    after = task.robot.at(result[:9], result[9:18], action=action)
    np.testing.assert_allclose(task.observe(now), compiled.observe(state), rtol=1e-12)
    assert task.reward(now, action, after) == pytest.approx(result[36], rel=1e-9)
    assert list(task.costs(now, action, after).values()) == pytest.approx(result[39:], rel=1e-9)


# ---- tasks ---------------------------------------------------------------------------------------------------------

MISTAKES = {
    "no horizon": (dict(horizon=None), "horizon, steps of an episode"),
    "no actions": (dict(actions=None), "needs actions"),
    "no method": (dict(reward=None), r"a method reward\(self, before, action, after\)"),
    "other arguments": (
        dict(reward=lambda self, state, action: 0.0),
        r"Changed.reward is called as reward\(self, before, action, after\), and takes \(state, action\)",
    ),
    "no end": (dict(done=lambda self, b, a, c: c), "Changed.done is one number"),
    "nothing returned": (dict(observe=lambda self, state: None), "Changed.observe returned nothing"),
    "short step": (dict(step=lambda self, state, action: state[:2]), "Changed.step returned 2 numbers, and .*reset 3"),
    "wrong states": (dict(states=4), "Changed.reset returned 3 numbers, and states is 4"),
    "wrong observations": (dict(observations=2), "Changed.observe returned 3 numbers, and observations is 2"),
    "vector reward": (dict(reward=lambda self, b, a, c: c), "Changed.reward is one number, not a vector of 3"),
    "matrix observation": (dict(observe=lambda self, s: np.outer(s, s)), "Changed.observe is a vector.*np.ravel"),
    "text reward": (dict(reward=lambda self, b, a, c: "much"), "Changed.reward is made of numbers"),
    "cost without limit": (dict(costs=lambda self, b, a, c: {"x": 1.0}), "costs returned x, and limits has none"),
    "limit without cost": (
        dict(costs=lambda self, b, a, c: {"x": 1.0}, limits={"y": 1}),
        "costs returned x, and limits has y",
    ),
    "limit that is none": (dict(costs=lambda self, b, a, c: {"x": 1.0}, limits={"x": "low"}), "a limit is a number"),
    "robot that is none": (dict(robot="ant.xml"), "Changed.robot is a cgpo.Robot"),
    "option's name": (dict(options={"reset": 1.0}), "'reset' is an attribute"),
    "name": (dict(name="a/b"), "a task's name has letters"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_is_a_sentence_that_names_the_method(name):
    members, match = MISTAKES[name]
    refusal(with_methods(**members), match)


def test_what_the_file_of_a_task_is_refused_for_has_no_place_in_it():
    for members, match in [
        ({"options": {"norm": 1.0}}, r"^Changed: 'norm' in \[options\] means something already"),
        ({"horizon": 10**7}, "^Changed: horizon is a whole number from 1 to 1000000"),
    ]:
        with pytest.raises(cgpo.Error, match=match):
            cgpo.train(with_methods(**members))
    with pytest.raises(cgpo.Error, match="unknown key 'iteration' .did you mean 'iterations'"):
        cgpo.train(with_methods(defaults={"iteration": 3}))
    with pytest.raises(cgpo.Error, match="ends with .toml"):
        Plain().save("plain.txt")


def test_all_that_a_task_may_say():
    class Much(Plain):
        name, summary, period = "much", 'says "all"', 0.5
        states, observations, reward_stops_at_end = 3, 3, False
        limits = {"free": math.inf, "c": {"limit": -1, "meaning": "a\u00b2", "standard": False, "stops_at_end": False}}
        defaults = {"policy": {"hidden": [8, 8]}, "limits": [2.0], "radius.test": "fixed", "window": 5}

        def reward_paper(self, before, action, after):
            return 3.0 * after[0]

        def costs(self, before, action, after):
            return {"c": action[0], "free": 1.0}

        def done(self, before, action, after):
            return after[0] > 0.25

    text = Much().definition()
    for line in ("reward_stops_at_end = false", "limit = inf", "standard = false", 'summary = "says \\"all\\""'):
        assert line in text.splitlines()
    result = probe(Much).step([0.5, 0.0, 0.0], [0.75, 0.0])
    assert result[6:] == [0.0, 1.5, 1.0, 1.0, 0.75]  # reward, reward_paper, end, costs in the order of limits
    known = {setting["name"]: setting["default"] for setting in cgpo.settings(Much)}
    assert known["policy.hidden"] == [8, 8] and known["limits"] == [2.0] and known["radius.test"] == "fixed"


def test_robot_begins_as_it_is_told():
    class Standing(cgpo.Task):
        horizon, period = 5, 0.05
        robot = cgpo.Robot(MODELS / "ant.xml")

        def observe(self, now):
            return now.qpos

        def reward(self, before, action, after):
            return 0.0

    class Lifted(Standing):
        def reset(self, random):
            return {"qpos": cgpo.array([0.0, 0.0, -1.0, *self.robot.qpos0[3:]]), "lift": True}

    start = probe(Standing).reset(1, 0)
    assert start == [*Standing.robot.qpos0, *[0.0] * Standing.robot.nv]
    assert probe(Lifted).reset(1, 0)[2] > -1.0


def test_values_are_not_kept_from_one_method_to_another():
    class Keeping(Plain):
        def observe(self, state):
            return state + kept if kept is not None else state

    kept = None
    text = Keeping().definition()
    seen = []
    with_methods(observe=lambda self, state: seen.append(state) or state)().definition()
    kept = seen[0]
    refusal(Keeping, "kept from elsewhere.*is state")
    kept = None
    assert Keeping().definition() == text

    class Storing(Plain):
        def reset(self, random):
            self.drawn = random.uniform(0, 1, 3)
            return self.drawn

        def reward(self, before, action, after):
            return self.drawn[0]

    refusal(Storing, r"Storing.reward, costs or done uses .* kept from elsewhere .from Storing.reset.")


def test_robot_names_what_is_not_there():
    robot = HalfCheetah.robot
    for observe, match in [
        (
            lambda self, now: now.body("trso").position,
            "no body named 'trso' .did you mean 'torso'..; it has: world, torso",
        ),
        (lambda self, now: now.joint("rooty").speed, "joint has no 'speed'"),
        (lambda self, now: now.speed, "there is no 'speed' at a moment; there are: action, actuator, body"),
        (lambda self, now: now.torques, "torques is not known in an observation, or before a step"),
    ]:
        with pytest.raises(cgpo.Error, match=f"^(the robot has )?{match}"):
            with_methods(HalfCheetah, observe=observe)().definition()
    assert not hasattr(robot.at(), "speed")
    with pytest.raises(cgpo.Error, match="no joint named 'rooot'"):
        cgpo.Robot(MODELS / "halfcheetah.xml", actuators=[{"joint": "rooot"}])
    with pytest.raises(cgpo.Error, match="does not exist"):
        cgpo.Robot("nowhere.xml")


def test_robot_has_what_mujoco_read():
    robot = HalfCheetah.robot
    assert (robot.nq, robot.nv, robot.nu) == (9, 9, 6)
    assert robot.bodies[:2] == ["world", "torso"]
    assert robot.joint_ranges["bthigh"] == pytest.approx([-0.52, 1.05])
    assert robot.actuator_ranges[robot.actuators[0]] == [-1.0, 1.0]
    driven = cgpo.Robot(MODELS / "halfcheetah.xml", actuators=[{"joint": "root?", "kind": "position", "kp": 3.0}])
    assert driven.actuators[6:] == ["rootx", "rootz", "rooty"]


def test_draws_are_shared_and_follow_the_seed():
    class Drawn(Plain):
        options = {"wide": 2.0}

        def reset(self, random):
            angle = random.uniform(-np.pi, np.pi)
            size = np.abs(angle)
            both = random.uniform(10.0 - size * size, 10.0 + size * size * 1.0)
            return [np.cos(angle), np.sin(angle), random.normal(10.0, self.wide * size), both]

        def step(self, state, action):
            return state

    task = probe(Drawn)
    starts = np.array([task.reset(1, stream) for stream in range(200)])
    np.testing.assert_allclose(np.hypot(starts[:, 0], starts[:, 1]), 1.0, rtol=1e-12)
    angles = np.arctan2(starts[:, 1], starts[:, 0])
    assert np.all(np.abs(starts[:, 3] - 10.0) <= angles**2 * (1 + 1e-12))
    deviations = (starts[:, 2] - 10.0) / (2.0 * np.abs(angles))
    assert abs(deviations.mean()) < 0.3 and 0.8 < deviations.std() < 1.2
    assert task.reset(1, 7) == task.reset(1, 7) != task.reset(2, 7)


def test_robot_remembers_states_of_the_task_and_the_clock():
    class Reaching(cgpo.Task):
        horizon, period = 10, 0.05
        robot = cgpo.Robot(MODELS / "halfcheetah.xml")

        def reset(self, random):
            goal = random.uniform(1.0, 2.0, 2)
            return {"goal": goal, "far": goal[0] + goal[1], "position": {"root?": 0.25}, "velocity": {"*thigh": 1.0}}

        def observe(self, now):
            return [now.goal, now.far, now.time, now.previous_action[0], now.joint("root*").position]

        def reward(self, before, action, after):
            return after.time + 10 * before.time + 100 * after.goal[0]

    task = probe(Reaching)
    state = task.reset(1, 0)
    goal = state[18:20]
    assert 1.0 < min(goal) and max(goal) < 2.0
    assert task.observe(state) == pytest.approx([*goal, sum(goal), 0.0, 0.0, 0.25, 0.25, 0.25])
    assert state[12] == state[15] == 1.0
    action = np.linspace(0.1, 0.6, 6)
    result = task.step(state, action)
    observation = result[len(state) : len(state) + 8]
    assert observation[:5] == pytest.approx([*goal, sum(goal), 0.05, 0.1])
    assert result[len(state) + 8] == pytest.approx(0.05 + 100 * goal[0])


# ---- training ------------------------------------------------------------------------------------------------------


def command(*words):
    done = subprocess.run([sys.executable, "-m", "cgpo", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_pole_is_learned_and_known_everywhere():
    assert cgpo.check(Pole)["max_relative_error"] < 1e-5
    run = cgpo.train(Pole, seed=1, out="pole", progress=False)
    found = run.evaluate(episodes=256)
    assert found["return"]["mean"] > 97.0  # of 100; untrained it falls after 19 steps
    assert found["feasible"]
    assert run.policy([0.1, 1.0, 0.0]).shape == (1,)
    # Another process, without the class.
    shown = json.loads(command("eval", "pole", "--episodes", "256", "--json"))
    assert shown["return"] == found["return"]
    assert json.loads(command("eval", "pole", "--episodes", "64", "--json", "--set", "task.gravity=0"))["feasible"]


def test_file_of_a_task_trains_to_the_same_bits(tmp_path):
    settings = {"iterations": 3, "environments": 16, "critic.steps": 8}
    cgpo.train(Pole(), out="ours", threads=2, settings=settings, progress=False)
    file = Pole().save("pole.toml")
    sets = [f"{key}={value}" for key, value in settings.items()]
    command("train", str(file), "--out", "theirs", "--threads", "1", "--set", *sets)
    for name in ("checkpoint.safetensors", "definition.toml"):
        assert pathlib.Path("ours", name).read_bytes() == pathlib.Path("theirs", name).read_bytes()
    # With its robot in it.
    file = HalfCheetah().save(tmp_path / "elsewhere.toml")
    assert str(MODELS) in file.read_text() and "<mujoco" in file.read_text()
    assert _core.Probe(str(file)).operations() == probe(HalfCheetah).operations()


def test_changed_class_does_not_go_on_with_the_run_of_another():
    settings = {"iterations": 2, "environments": 16, "critic.steps": 8}
    cgpo.train(Pole, out="pole", settings=settings, progress=False)
    longer = {**settings, "iterations": 3}
    changed = type("Pole", (Pole,), {"reward": lambda self, before, action, after: after[0]})
    with pytest.raises(cgpo.Error, match="has changed since the run began"):
        cgpo.train(changed, out="pole", resume=True, settings=longer, progress=False)
    assert len(cgpo.train(Pole, out="pole", resume=True, settings={"iterations": 3}, progress=False).log["return"]) == 3


# ---- randomness that is not the start's ----------------------------------------------------------------------------


def test_numbers_of_numpy_s_own_generator_do_not_become_a_constant():
    refusal(with_methods(reset=lambda self, random: [0.5, np.random.uniform(), 0.0]), r"Changed.reset is another one each time")
    fresh = with_methods(reward=lambda self, before, action, after: after[0] + np.random.default_rng().normal())
    refusal(fresh, r"Changed.reward, costs or done is another one .* draw with the `random` that reset gets")
    with_methods(observe=lambda self, state: state * np.random.default_rng(1).normal())().definition()


@pytest.mark.parametrize(
    ("name", "instead"),
    [("standard_normal", "random.normal"), ("random", "random.uniform"), ("integers", "cgpo.floor"), ("choice", "cgpo.where")],
)
def test_draws_that_cannot_be_traced_say_what_can(name, instead):
    refusal(with_methods(reset=lambda self, random: [getattr(random, name)(3), 0.0, 0.0]), f"random.{name}: .*{instead}")
    assert not hasattr(cgpo.Random(), name)
