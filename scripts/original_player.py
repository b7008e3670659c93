"""Plays the velocity tasks of the package safety-gymnasium in an environment that has Gymnasium and MuJoCo, but not cgpo.

usage: original_player.py record|evaluate PACKAGE ROBOT OUT.npz [--episodes N] [--seed N] [--halve-margins] [--policy LIBRARY.so]

PACKAGE is the folder that the wheel was unpacked to. `record` writes what each step begins with and gives; `evaluate` plays
episodes with a policy that `cgpo export --to c` wrote, compiled to a library.
"""
import argparse
import ctypes
import importlib
import sys
import types

import numpy as np

ROBOTS = {"Ant": "ant", "HalfCheetah": "half_cheetah", "Hopper": "hopper", "Humanoid": "humanoid", "Swimmer": "swimmer", "Walker2d": "walker2d"}
PUSH_EVERY = 50  # steps, in every second episode: else random actions hardly ever exceed a limit


def original(package, robot):
    """The environment, from behind packages that are empty: the real ones import what cannot be installed."""
    for name in ("", ".utils", ".tasks", ".tasks.safe_velocity"):
        module = types.ModuleType("safety_gymnasium" + name)
        module.__path__ = [f"{package}/safety_gymnasium{name.replace('.', '/')}"]
        sys.modules[module.__name__] = module
    module = importlib.import_module(f"safety_gymnasium.tasks.safe_velocity.safety_{ROBOTS[robot]}_velocity_v1")
    return getattr(module, f"Safety{robot}VelocityEnv")()


def place(environment, robot):
    """Where the original measures speeds: what the last stage of a step left."""
    if robot == "Ant":
        return environment.get_body_com("torso")[:2].copy()
    mass = environment.model.body_mass[:, None]
    return ((mass * environment.data.xipos).sum(0) / mass.sum())[:2]


def in_float(values):
    values[:] = values.astype(np.float32)


def record(environment, robot, arguments):
    data, steps = environment.data, {}
    random = np.random.default_rng(arguments.seed)
    speed = 3.0 * environment._velocity_threshold
    for episode in range(arguments.episodes):
        environment.reset(seed=arguments.seed + episode)
        for step in range(1000):
            if episode % 2 == 1 and step % PUSH_EVERY == 0:
                data.qvel[0] += speed
            for part in (data.qpos, data.qvel, data.qacc_warmstart):  # ours keeps states in single precision
                in_float(part)
            action = (random.uniform(-1, 1, environment.model.nu) * environment.action_space.high).astype(np.float32)
            before = {"qpos": data.qpos, "qvel": data.qvel, "warm": data.qacc_warmstart, "place": place(environment, robot), "action": action}
            row = {name: np.array(value) for name, value in before.items()}
            observation, reward, cost, terminated, _, _ = environment.step(action)
            after = {"observation": observation, "reward": reward, "cost": cost, "ended": terminated}
            row.update({name: np.array(value) for name, value in after.items()})
            row["next"] = np.concatenate([data.qpos, data.qvel])
            row["episode"] = np.array(episode)
            for name, value in row.items():
                steps.setdefault(name, []).append(value)
            if terminated:
                break
    return {name: np.array(rows) for name, rows in steps.items()}


def evaluate(environment, arguments):
    policy = ctypes.CDLL(arguments.policy).act
    single = ctypes.POINTER(ctypes.c_float)
    action = np.zeros(environment.model.nu, np.float32)
    sums = []
    for episode in range(arguments.episodes):
        observation, _ = environment.reset(seed=arguments.seed + episode)
        total = np.zeros(3)  # return, cost, steps
        while total[2] < 1000:
            seen = np.ascontiguousarray(observation, np.float32)
            policy(seen.ctypes.data_as(single), action.ctypes.data_as(single))
            observation, reward, cost, terminated, _, _ = environment.step(action)
            total += (reward, cost, 1)
            if terminated:
                break
        sums.append(total)
    return {"sums": np.array(sums)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["record", "evaluate"])
    parser.add_argument("package")
    parser.add_argument("robot", choices=list(ROBOTS))
    parser.add_argument("out")
    parser.add_argument("--episodes", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--halve-margins", action="store_true", help="MuJoCo 4 adds the margins of two geoms, where 2.3.3 took the larger")
    parser.add_argument("--policy")
    arguments = parser.parse_args()
    environment = original(arguments.package, arguments.robot)
    if arguments.halve_margins:
        environment.model.geom_margin[:] *= 0.5
    result = record(environment, arguments.robot, arguments) if arguments.what == "record" else evaluate(environment, arguments)
    np.savez_compressed(arguments.out, **result)


if __name__ == "__main__":
    main()
