"""Stable-Baselines3 and skrl on our environments, beside their own checkers and vector environments."""

import warnings

import numpy as np
import pytest

import cgpo
from cgpo.environments import Environment

pytestmark = pytest.mark.full
stable_baselines3 = pytest.importorskip("stable_baselines3")
torch = pytest.importorskip("torch")
torch.set_num_threads(1)


@pytest.mark.parametrize("task", ["function", "ant", "halfcheetah"])
def test_checker_of_stable_baselines_passes(task):
    from stable_baselines3.common.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(cgpo.make(task), warn=True)


def test_vec_env_is_what_stable_baselines_makes_of_single_ones():
    from stable_baselines3.common.vec_env import DummyVecEnv

    ours = cgpo.sb3.VecEnv("hopper", 5, max_episode_steps=25)
    theirs = DummyVecEnv([lambda: Environment("hopper", max_episode_steps=25)] * 5)
    assert ours.seed(7) == theirs.seed(7)
    np.testing.assert_array_equal(ours.reset(), theirs.reset())
    random = np.random.default_rng(0)
    kinds = set()
    for _ in range(80):
        actions = random.uniform(-1, 1, (5, 3)).astype(np.float32)
        left, right = ours.step(actions), theirs.step(actions)
        for mine, other in zip(left[:3], right[:3]):
            np.testing.assert_array_equal(mine, other)
            assert mine.dtype == other.dtype
        for mine, other in zip(left[3], right[3]):
            np.testing.assert_array_equal(mine.pop("terminal_observation", 0), other.pop("terminal_observation", 0))
            kinds.add(mine.get("TimeLimit.truncated"))
            if "TimeLimit.truncated" not in mine:
                other.pop("TimeLimit.truncated")  # theirs says False of every step
            assert mine == other
    assert kinds == {None, False, True}


def test_ppo_of_stable_baselines_learns():
    environments = stable_baselines3.common.vec_env.VecMonitor(cgpo.sb3.VecEnv("function", 64))
    model = stable_baselines3.PPO("MlpPolicy", environments, n_steps=100, batch_size=1600, seed=0, device="cpu")
    model.learn(6400)
    before = np.mean([episode["r"] for episode in model.ep_info_buffer])
    model.learn(25600)
    after = np.mean([episode["r"] for episode in model.ep_info_buffer])
    assert after > before + 1


def test_stable_baselines_makes_them_by_their_ids():
    """It asks for pictures, which there are not."""
    from stable_baselines3.common.env_util import make_vec_env

    with pytest.warns(UserWarning, match="draw no pictures"):
        model = stable_baselines3.PPO("MlpPolicy", "cgpo/CartPole-v0", n_steps=32, batch_size=32, device="cpu")
    model.learn(64)
    with pytest.warns(UserWarning, match="draw no pictures"):
        assert make_vec_env("cgpo/CartPole-v0", 2).reset().shape == (2, 4)


def test_ppo_of_skrl_trains(tmp_path):
    pytest.importorskip("skrl")
    from skrl.agents.torch.ppo import PPO, PPO_CFG
    from skrl.envs.wrappers.torch import wrap_env
    from skrl.memories.torch import RandomMemory
    from skrl.models.torch import DeterministicMixin, GaussianMixin, Model
    from skrl.trainers.torch import SequentialTrainer

    class Actor(GaussianMixin, Model):
        def __init__(self, **spaces):
            Model.__init__(self, **spaces)
            GaussianMixin.__init__(self)
            self.mean = torch.nn.Linear(self.num_observations, self.num_actions)
            self.log_std = torch.nn.Parameter(torch.zeros(self.num_actions))

        def compute(self, inputs, role):
            return self.mean(inputs["observations"]), {"log_std": self.log_std}

    class Critic(DeterministicMixin, Model):
        def __init__(self, **spaces):
            Model.__init__(self, **spaces)
            DeterministicMixin.__init__(self)
            self.value = torch.nn.Linear(self.num_observations, 1)

        def compute(self, inputs, role):
            return self.value(inputs["observations"]), {}

    environments = wrap_env(cgpo.make_vec("cartpole", 32), wrapper="gymnasium")
    assert environments.num_envs == 32 and environments._vectorized
    spaces = {
        "observation_space": environments.observation_space,
        "action_space": environments.action_space,
        "device": "cpu",
    }
    torch.manual_seed(0)
    models = {"policy": Actor(**spaces), "value": Critic(**spaces)}
    start = models["policy"].mean.weight.detach().clone()
    settings = PPO_CFG(rollouts=16)
    settings.experiment.directory = str(tmp_path)
    settings.experiment.write_interval = settings.experiment.checkpoint_interval = 0
    memory = RandomMemory(memory_size=16, num_envs=32, device="cpu")
    agent = PPO(models=models, memory=memory, cfg=settings, **spaces)
    length = {"timesteps": 64, "headless": True, "close_environment_at_exit": False}
    trainer = SequentialTrainer(env=environments, agents=agent, cfg=length)
    trainer.train()
    assert not torch.equal(models["policy"].mean.weight, start)
