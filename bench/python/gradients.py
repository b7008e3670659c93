"""Gradients of ten steps of 256 Ants with a policy of 64-64 tanh: through cgpo.torch, by `cgpo bench --windows`, and Brax.

Gradients are two, of reward and of cost by the policy's weights. Brax is timed if build/peers-venv has it
(bench/peers/run.sh installs it there).
"""

import json
import os
import subprocess
import time

import torch

import cgpo
import table

ROUNDS = 5
ANTS, STEPS, NOISE = 256, 10, 0.1
PROGRAM = table.ROOT / "build/bin/cgpo"
PEERS = table.ROOT / "build/peers-venv/bin/python"


class Policy(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(inputs, 64),
            torch.nn.Tanh(),
            torch.nn.Linear(64, 64),
            torch.nn.Tanh(),
            torch.nn.Linear(64, outputs),
        )

    def forward(self, observation):
        mean = self.layers(observation)
        return torch.tanh(mean + NOISE * torch.randn_like(mean))


def of_torch(simulator, policy):
    """Environment steps a second, new starts and noise in each window."""
    weights = list(policy.parameters())
    windows, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < 1.0:
        steps = simulator.rollout(policy, environments=ANTS, steps=STEPS, seed=ANTS * windows)
        torch.autograd.grad(steps.rewards.sum(0).mean(), weights, retain_graph=True)
        torch.autograd.grad(steps.costs.sum(0).mean(), weights)
        windows += 1
    return windows * ANTS * STEPS / (time.perf_counter() - begin)


def of_program():
    words = [PROGRAM, "bench", "ant", "--windows", "--json"]
    said = subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return {row["name"]: row["steps_per_second"] for row in json.loads(said)["results"]}[
        "ant-gradients"
    ]  # the best code's


def of_brax():
    """The fastest of some turns, after it has been compiled."""
    script = table.ROOT / "bench/peers/brax_peer.py"
    words = [PEERS, script, "ant", "--variant", "generalized", "--repeats", str(ROUNDS)]
    said = subprocess.run(
        words, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, "JAX_PLATFORMS": "cpu"}
    ).stdout
    return max(turn["gradient"] for turn in json.loads(said.splitlines()[-1])["turns"])


def rounded(number):
    return f"{number:,.0f}".replace(",", " ")


def measure():
    simulator = cgpo.torch.Simulator("ant")
    policy = Policy(simulator.observations, simulator.actions)
    measures = []
    for threads in (1, len(os.sched_getaffinity(0))):

        def with_threads(threads=threads):
            torch.set_num_threads(threads)
            return -of_torch(simulator, policy)

        measures.append(with_threads)
    measures[0](), measures[1]()
    *ours, program = table.in_turns(ROUNDS, *measures, lambda: -of_program())
    ours, program = -min(ours), -program
    what = f"gradients of {STEPS} steps of {ANTS} Ants through `cgpo.torch`, steps a second, beside"
    slower = program / ours
    rows = [
        table.Row(
            f"{what} `cgpo bench --windows`; times as long", rounded(ours), rounded(program), slower, "≤ 3", slower <= 3
        )
    ]
    if PEERS.exists():
        brax = of_brax()
        rows.append(table.Row(f"{what} Brax", rounded(ours), rounded(brax), ours / brax, "≥ 100", ours >= 100 * brax))
    return rows


if __name__ == "__main__":
    table.show(measure())
