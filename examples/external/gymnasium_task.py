"""A Gymnasium environment as a task of cgpo:

    python3 -m venv venv && venv/bin/pip install "gymnasium[classic-control]"
    cgpo train external --algo mb-cgpo --set 'task.command="venv/bin/python examples/external/gymnasium_task.py Pendulum-v1"'

A cost is what the environment says in info["cost"], as safety environments do; others get one here: the mean square of
the action. Without Gymnasium, `gymnasium_task.py puck` serves a small environment that is written below.
"""

import cgpo_simulator  # first: it keeps what others print away from the pipe

import argparse
import random


class Puck:
    """A puck on a table, pushed towards the middle; pushing costs energy."""

    observations, actions, horizon = 4, 2, 40

    def reset(self, seed):
        draw = random.Random(seed)
        self.x = [draw.uniform(-1.0, 1.0), draw.uniform(-1.0, 1.0), 0.0, 0.0]
        return self.x

    def step(self, action):
        x = list(self.x)
        for i in range(2):
            x[2 + i] += 0.1 * (action[i] - 0.5 * x[2 + i])
            x[i] += 0.1 * x[2 + i]
        self.x = x
        reward = 1.0 / (1.0 + 10.0 * (x[0] * x[0] + x[1] * x[1]))
        return x, reward, [action[0] * action[0] + action[1] * action[1]], False


class Gymnasium:
    """Actions in (-1, 1) become the environment's own range; a dictionary or image observation is not for this."""

    def __init__(self, environment_id):
        import gymnasium

        self.environment = gymnasium.make(environment_id)
        space = self.environment.action_space
        self.low, self.high = [float(x) for x in space.low], [float(x) for x in space.high]
        self.observations = self.environment.observation_space.shape[0]
        self.actions = space.shape[0]
        self.horizon = self.environment.spec.max_episode_steps or 1000

    def reset(self, seed):
        observation, _ = self.environment.reset(seed=seed % 2**32)
        return observation

    def step(self, action):
        scaled = [low + (high - low) * (a + 1.0) / 2.0 for a, low, high in zip(action, self.low, self.high)]
        observation, reward, terminated, _, info = self.environment.step(scaled)
        # Truncation is the horizon's affair, which cgpo keeps itself.
        cost = info.get("cost", sum(a * a for a in action) / len(action))
        return observation, reward, [cost], terminated


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("environment", help="puck, or the name of a Gymnasium environment with continuous actions")
parser.add_argument("--limit", type=float, default=5.0, help="of the cost's sum over an episode")
arguments = parser.parse_args()

make = Puck if arguments.environment == "puck" else lambda: Gymnasium(arguments.environment)
sizes = make()
cgpo_simulator.serve(make, observations=sizes.observations, actions=sizes.actions, horizon=sizes.horizon,
                     costs=[{"name": "cost", "limit": arguments.limit}], name=arguments.environment)
