"""MJX: the robots of our own model files, with our control periods, rewards and costs, and MuJoCo's substeps."""

import pathlib

import jax
import mujoco
from jax import numpy as jnp
from mujoco import mjx

import common

MODELS = pathlib.Path(__file__).resolve().parents[2] / "models"
PERIODS = {"ant": 0.05, "halfcheetah": 0.05, "reacher": 0.02, "cartpole": 0.04}
SUBSTEPS = {"ant": 5, "halfcheetah": 5, "reacher": 2, "cartpole": 2}
ANT_START = (0, 0, 0.55, 1, 0, 0, 0, 0, 1, 0, -1, 0, -1, 0, 1)


class Mjx:
    def __init__(self, task, _):
        self.task = task
        self.period, self.substeps = PERIODS[task], SUBSTEPS[task]
        robot = mujoco.MjModel.from_xml_path(str(MODELS / f"{task}.xml"))
        robot.opt.timestep = self.period / self.substeps
        # One solver iteration, as in Brax's own MJX environments: reverse mode does not pass a loop of several.
        robot.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
        robot.opt.iterations, robot.opt.ls_iterations = 1, 4
        robot.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_EULERDAMP
        self.actions = robot.nu
        self.model = mjx.put_model(robot)
        self.start = jnp.array(ANT_START, jnp.float32) if task == "ant" else jnp.array(robot.qpos0, jnp.float32)
        self.blank = mjx.make_data(self.model)

    def reset(self, random):
        keys = jax.random.split(random, 3)
        width = 0.01 if self.task == "cartpole" else 0.1
        q = self.start + jax.random.uniform(keys[0], self.start.shape, minval=-width, maxval=width)
        v = width * jax.random.normal(keys[1], (self.model.nv,))
        target = 0.1 * jax.random.normal(keys[2], (2,))
        return mjx.forward(self.model, self.blank.replace(qpos=q, qvel=v)), target

    def observe(self, state):
        data, target = state
        if self.task == "reacher":
            return jnp.concatenate([jnp.cos(data.qpos), jnp.sin(data.qpos), target, data.qvel, self.miss(data, target)])
        skipped = {"ant": 2, "halfcheetah": 1, "cartpole": 0}[self.task]
        return jnp.concatenate([data.qpos[skipped:], data.qvel])

    def miss(self, data, target):
        return jnp.append(data.xpos[-1, :2] - target, 0.0)

    def step(self, state, action):
        before, target = state
        data = before.replace(ctrl=(3.0 if self.task == "cartpole" else 1.0) * action)
        data = jax.lax.scan(lambda d, _: (mjx.step(self.model, d), None), data, None, self.substeps)[0]
        return (data, target), *self.outcome(before, action, data, target)

    def outcome(self, before, action, after, target):
        energy = jnp.sum(action**2)
        if self.task == "cartpole":
            return 1.0 * (jnp.abs(after.qpos[1]) <= 0.2), -after.qpos[0] ** 2
        if self.task == "reacher":
            square = jnp.sum(self.miss(after, target) ** 2)
            return -jnp.sqrt(square + 1e-10) - energy, 100.0 * square
        moving = 1 if self.task == "halfcheetah" else 2
        velocity = (after.qpos[:moving] - before.qpos[:moving]) / self.period
        weight = 0.1 if self.task == "halfcheetah" else 0.5
        return velocity[0] - weight * energy, jnp.sqrt(jnp.sum(velocity**2) + 1e-6)


if __name__ == "__main__":
    common.main("MJX", Mjx, [""])
