"""The program's halfcheetah as a class: a planar runner with a speed limit, on the robot of an MJCF file.

python examples/python/halfcheetah.py
"""

import pathlib

import numpy as np

import cgpo

MODELS = pathlib.Path(__file__).resolve().parents[2] / "models"


class HalfCheetah(cgpo.Task):
    """A planar runner with a speed limit."""

    horizon, period = 200, 0.05
    robot = cgpo.Robot(
        MODELS / "halfcheetah.xml",
        substeps=10,
        mujoco_substeps=5,
        contact={"stiffness": 25000, "damping": 250, "width": 0.01, "slip_speed": 0.3},
    )
    limits = {
        "speed": 400,
        "energy": {"limit": 100, "standard": False, "meaning": "Σ a²"},
        "height": {"limit": 120, "standard": False},
    }

    def reset(self, random):
        return {"qpos": random.uniform(-0.1, 0.1, 9), "qvel": 0.1 * random.normal(size=9)}

    def observe(self, now):
        pitch = now.joint("rooty").position
        return np.concatenate([[now.qpos[1] + 0.7, np.cos(pitch / 2), np.sin(pitch / 2)], now.qpos[3:], now.qvel])

    def speed(self, before, after):
        return (after.qpos[0] - before.qpos[0]) / self.period

    def reward(self, before, action, after):
        return self.speed(before, after) - 0.1 * np.sum(action**2)

    def costs(self, before, action, after):
        speed = self.speed(before, after)
        energy = np.sum(action**2)
        return {"speed": np.sqrt(speed**2 + 1e-6) - 1e-3, "energy": energy, "height": after.qpos[1] + 0.7}


if __name__ == "__main__":
    print(cgpo.train(HalfCheetah, iterations=20, seed=1).evaluate(256)["costs"])
