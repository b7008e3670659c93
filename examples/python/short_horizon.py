"""Trains HalfCheetah to run, but not too fast, with PyTorch: gradients through short windows of the simulator itself.

Every iteration steps 130 robots on by a window, and goes up the gradient of reward - lambda * cost, which flows through
policy and simulator alike; lambda is a Lagrange multiplier (with a proportional part) that grows while the robots are too
fast. No critic, no noise: what is left of SHAC (Xu et al., 2022) without either. The published way to use these gradients
is `cgpo.train`.
"""

import torch

import cgpo

WINDOW = 20  # steps that a gradient goes back
FRESH = 13  # episodes that begin with each window
torch.manual_seed(0)
torch.set_num_threads(1)

simulator = cgpo.torch.Simulator("halfcheetah")
OLD = simulator.horizon // WINDOW  # windows of an episode
limit = simulator.limits["speed"] / simulator.horizon  # of a step


class Policy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(simulator.observations, affine=False, momentum=1.0)
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(simulator.observations, 64), torch.nn.ELU(),
            torch.nn.Linear(64, 64), torch.nn.ELU(),
            torch.nn.Linear(64, simulator.actions), torch.nn.Tanh(),
        )  # fmt: skip

    def forward(self, observation):
        return self.layers(self.norm(observation).clamp(-5, 5))


def watch(observations):
    """Moves the statistics with which observations are normalised."""
    policy.norm.train()
    policy.norm(observations.detach().flatten(0, 1))
    policy.norm.eval()


@torch.no_grad()
def judge(policy, iteration):
    """Return and cost of whole episodes that training has not seen."""
    steps = simulator.rollout(policy, environments=256, seed=1_000_000)
    reward, cost = steps.rewards.sum(0).mean(), steps.costs.sum(0).mean()
    print(f"iteration {iteration} return {reward:.1f} cost {cost:.1f} limit {simulator.limits['speed']:.0f}", flush=True)


policy = Policy()
watch(simulator.rollout(lambda seen: torch.rand(len(seen), simulator.actions) * 2 - 1, environments=64).observations)
policy.norm.momentum = 0.01
judge(policy, 0)
optimiser = torch.optim.Adam(policy.layers.parameters(), lr=2e-3)
schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.05, total_iters=300)
integral = 0.0
state = simulator.start(OLD * FRESH, seed=0)
for iteration in range(1, 301):
    steps = simulator.rollout(policy, steps=WINDOW, state=state)
    reward, cost = steps.rewards.mean(), steps.costs.mean()
    excess = cost.item() - 0.93 * limit
    integral = max(0.0, integral + 0.02 * excess)
    multiplier = max(0.0, integral + 4.0 * excess)
    loss = (multiplier * cost - reward) / (1 + multiplier)
    optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(policy.layers.parameters(), 1.0)
    optimiser.step()
    schedule.step()
    watch(steps.observations)
    # The oldest episodes are over, new ones begin: all ages are there at any time.
    state = torch.cat([simulator.start(FRESH, seed=FRESH * (OLD + iteration)), steps.state[:-FRESH].detach()])
    if iteration % 100 == 0:
        judge(policy, iteration)
