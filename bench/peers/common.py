"""What all peers share: the policy, the window, its two gradients, and timing turn by turn with our own program."""

import argparse
import json
import os
import resource
import subprocess
import tempfile
import time

import jax
from jax import numpy as jnp

ENVIRONMENTS = 256
WINDOW = 10
HIDDEN = (64, 64)
NOISE = 0.1  # policy.initial_std of our tasks


def make_policy(random, inputs, outputs):
    sizes = (inputs, *HIDDEN, outputs)
    keys = jax.random.split(random, len(sizes))
    return [
        (jax.random.normal(key, (m, n)) / m**0.5 * (0.01 if n == outputs else 1.0), jnp.zeros(n))
        for key, m, n in zip(keys, sizes, sizes[1:])
    ]


def act(policy, observation, noise):
    for weight, bias in policy[:-1]:
        observation = jnp.tanh(observation @ weight + bias)
    weight, bias = policy[-1]
    return jnp.tanh(observation @ weight + bias + NOISE * noise)


def window_sums(environment, policy, states, noises):
    """Mean over the environments of the window's reward and cost, and what the states became."""

    def one_step(states, noise):
        actions = act(policy, jax.vmap(environment.observe)(states), noise)
        after, reward, cost = jax.vmap(environment.step)(states, actions)
        return after, jnp.stack([reward.mean(), cost.mean()])

    after, sums = jax.lax.scan(one_step, states, noises)
    return sums.sum(0), after


def window_gradients(environment, policy, states, noises):
    """As window_sums, and both gradients: one forward sweep, both reverse sweeps side by side."""
    sums, pull_back, after = jax.vjp(lambda p: window_sums(environment, p, states, noises), policy, has_aux=True)
    return sums, jax.vmap(lambda cotangent: pull_back(cotangent)[0])(jnp.eye(2)), after


def compiled(function, *arguments):
    start = time.perf_counter()
    program = jax.jit(function).lower(*arguments).compile()
    return program, time.perf_counter() - start


def steps_per_second(program, *arguments):
    """Over as many calls as fill a second, as our side counts; and steps a second of processor time."""
    calls, start, work = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - start < 1.0:
        jax.block_until_ready(program(*arguments))
        calls += 1
    steps = calls * ENVIRONMENTS * WINDOW
    return steps / (time.perf_counter() - start), steps / (time.process_time() - work)


def children_work():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Own:
    """Our own program on the same task: windows of the same size with the policy, and both gradients."""

    def __init__(self, program, task):
        self.program, self.task = program, task

    def row(self):
        if not self.program:
            return None
        work = children_work()
        start = time.perf_counter()
        text = subprocess.run([self.program, "bench", self.task, "--windows", "--json"], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        cores = (children_work() - work) / (time.perf_counter() - start)
        speeds = {row["name"]: row["steps_per_second"] for row in json.loads(text)["results"]}  # the last: the best code
        gradient = speeds[f"{self.task}-gradients"]
        return {"gradient": gradient, "gradient_core": gradient / cores, "forward": speeds[f"{self.task}-windows"]}

    def startup(self):
        """Seconds of a whole run of one iteration, from the start of the process."""
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            subprocess.run([self.program, "train", self.task, "--out", folder, "--force", "--set", "gradient.source=bptt",
                            f"horizon={WINDOW}", f"environments={ENVIRONMENTS}", "iterations=1"],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            return time.perf_counter() - start


def measure(environment, own, repeats):
    """Times a peer and our program in turns, so that whatever else runs on the machine slows both."""
    keys = jax.random.split(jax.random.PRNGKey(0), 3)
    states = jax.jit(jax.vmap(environment.reset))(jax.random.split(keys[0], ENVIRONMENTS))
    inputs = environment.observe(jax.tree.map(lambda x: x[0], states)).shape[0]
    policy = make_policy(keys[1], inputs, environment.actions)
    noises = jax.random.normal(keys[2], (WINDOW, ENVIRONMENTS, environment.actions))
    arguments = (policy, states, noises)
    forward, forward_compile = compiled(lambda *a: window_sums(environment, *a), *arguments)
    gradients, gradient_compile = compiled(lambda *a: window_gradients(environment, *a), *arguments)
    jax.block_until_ready(forward(*arguments))
    _, slopes, _ = gradients(*arguments)
    finite = all(bool(jnp.isfinite(x).all()) for x in jax.tree.leaves(slopes))
    turns = []
    for _ in range(repeats):
        gradient, gradient_core = steps_per_second(gradients, *arguments)
        turns.append({
            "gradient": gradient,
            "gradient_core": gradient_core,
            "forward": steps_per_second(forward, *arguments)[0],
            "own": own.row(),
            "load": os.getloadavg()[0],
        })
    return {
        "turns": turns,
        "compile_forward_s": forward_compile,
        "compile_gradient_s": gradient_compile,
        "own_startup_s": own.startup() if own.program else None,
        "finite": finite,
    }


def main(peer, make, variants):
    """Command line of a peer: make(task, variant) builds its environment."""
    parser = argparse.ArgumentParser(description=f"{peer}: speed of gradients through a window, as one JSON object")
    parser.add_argument("task", choices=["ant", "halfcheetah", "reacher", "cartpole"])
    parser.add_argument("--variant", choices=variants, default=variants[0])
    parser.add_argument("--cgpo", default="", help="our program; without it only the peer is timed")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    environment = make(options.task, options.variant)
    result = measure(environment, Own(options.cgpo, options.task), options.repeats)
    print(json.dumps({"peer": f"{peer} {options.variant}".strip(), "task": options.task, "period": environment.period,
                      "substeps": environment.substeps, **result}))
