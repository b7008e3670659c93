"""Brax: its own environments with their own models, substeps and rewards; costs are those of our tasks."""

import warnings

warnings.filterwarnings("ignore")

from brax import envs  # noqa: E402
from jax import numpy as jnp  # noqa: E402

import common  # noqa: E402

NAMES = {"cartpole": "inverted_pendulum"}


class Brax:
    def __init__(self, task, backend):
        self.task = task
        self.brax = envs.get_environment(NAMES.get(task, task), backend=backend)
        self.actions = self.brax.action_size
        self.substeps = self.brax._n_frames
        self.period = float(self.brax.dt)
        self.reset = self.brax.reset

    def observe(self, state):
        return state.obs

    def step(self, state, action):
        after = self.brax.step(state, action)
        return after, jnp.asarray(after.reward, jnp.float32), self.cost(state, after)

    def cost(self, before, after):
        if self.task == "cartpole":
            return -after.pipeline_state.q[0] ** 2
        if self.task == "reacher":
            return 100.0 * jnp.sum(after.obs[-3:] ** 2)
        velocity = (after.pipeline_state.x.pos[0] - before.pipeline_state.x.pos[0]) / self.brax.dt
        moving = velocity[:1] if self.task == "halfcheetah" else velocity[:2]
        return jnp.sqrt(jnp.sum(moving**2) + 1e-6)


if __name__ == "__main__":
    common.main("Brax", Brax, ["generalized", "spring"])
