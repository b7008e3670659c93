"""The simulator under PyTorch: beside central differences, the environments, and the trainer's own derivatives."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest

import cgpo

pytestmark = pytest.mark.full
torch = pytest.importorskip("torch")
torch.set_num_threads(1)

TASKS = ["function", "cartpole", "reacher", "halfcheetah", "ant", "hopper", "walker2d", "humanoid", "quadruped"]
ROOT = pathlib.Path(__file__).resolve().parents[2]


def settled(simulator, environments, steps, seed=3):
    """States after some steps of noise, so that feet are on the ground, and actions for them."""
    generator = torch.Generator().manual_seed(seed)
    state = simulator.start(environments, seed=seed, dtype=torch.float64)
    for _ in range(steps):
        state = simulator.step(state, torch.rand(environments, simulator.actions, generator=generator).double() * 2 - 1).state
    action = torch.rand(environments, simulator.actions, generator=generator).double() * 1.6 - 0.8
    return state.detach().clone().requires_grad_(), action.requires_grad_()


@pytest.mark.parametrize("task", TASKS)
def test_gradcheck_passes(task):
    simulator = cgpo.torch.Simulator(task)
    state, action = settled(simulator, 3, 12)
    assert torch.autograd.gradcheck(
        lambda s, a: simulator.step(s, a)[:4], (state, action), eps=1e-7, atol=1e-5, rtol=1e-4, nondet_tol=0.0
    )
    assert torch.autograd.gradcheck(simulator.observe, (state,), eps=1e-7, atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("task", ["ant", "halfcheetah"])
def test_gradcheck_over_a_window(task):
    """Derivatives of a rollout of a policy with respect to its weights, contact and all."""
    simulator = cgpo.torch.Simulator(task)
    state, _ = settled(simulator, 2, 12)
    weights = 0.1 * torch.randn(simulator.observations, simulator.actions, dtype=torch.float64, generator=torch.manual_seed(0))
    weights.requires_grad_()

    def window(w, s):
        steps = simulator.rollout(lambda o: torch.tanh(o @ w), steps=4, state=s)
        return steps.rewards.sum(0), steps.costs.sum(0), steps.state

    assert torch.autograd.gradcheck(window, (weights, state), eps=1e-7, atol=1e-4, rtol=1e-3, fast_mode=True)


@pytest.mark.parametrize("task", ["function", "ant"])
def test_layout_and_threads_change_no_bit(task):
    def gradients(threads, layout):
        simulator = cgpo.torch.Simulator(task, threads=threads)
        state, action = (layout(x.detach()).requires_grad_() for x in settled(simulator, 70, 3))
        after = simulator.step(state, action)
        seed = torch.Generator().manual_seed(0)
        total = sum((x * torch.randn(x.shape, generator=seed)).sum() for x in after[:4])
        total.backward()
        return [*after, state.grad, action.grad]

    first = gradients(1, lambda x: x.contiguous())
    for other in (gradients(3, lambda x: x.contiguous()), gradients(2, lambda x: x.t().contiguous().t())):
        assert all(torch.equal(a, b) for a, b in zip(first, other))


def test_no_copy_from_step_to_step():
    from cgpo.torch import _rows

    simulator = cgpo.torch.Simulator("ant")
    after = simulator.step(simulator.start(40), torch.zeros(40, 8))
    for tensor in (simulator.start(40), after.state, after.observation):
        assert _rows(tensor).data_ptr() == tensor.data_ptr()


@pytest.mark.parametrize("task", ["function", "halfcheetah", "ant"])
def test_steps_are_those_of_environments(task):
    simulator = cgpo.torch.Simulator(task)
    environments = cgpo.make_vec(task, 9, autoreset_mode="SameStep")
    observations, _ = environments.reset(seed=4)
    state = simulator.start(9, seed=4)
    np.testing.assert_array_equal(simulator.observe(state).numpy(), observations)
    random = np.random.default_rng(0)
    for _ in range(5):
        actions = random.uniform(-1, 1, (9, simulator.actions)).astype(np.float32)
        after = simulator.step(state, torch.from_numpy(actions))
        observations, rewards, *_, infos = environments.step(actions)
        np.testing.assert_array_equal(after.observation.numpy(), observations)
        np.testing.assert_array_equal(after.reward.numpy(), rewards.astype(np.float32))
        np.testing.assert_array_equal(after.costs.sum(1).numpy(), infos["cost"].astype(np.float32))
        state = after.state


def test_float_and_double_agree():
    simulator = cgpo.torch.Simulator("halfcheetah")
    state, action = settled(simulator, 16, 5)
    grads = []
    for dtype in (torch.float32, torch.float64):
        a = action.detach().to(dtype).requires_grad_()
        after = simulator.step(state.detach().to(dtype), a)
        assert after.reward.dtype == dtype
        (after.reward.sum() + after.costs.sum()).backward()
        grads.append(a.grad.double())
    assert torch.allclose(*grads, rtol=1e-2, atol=1e-3) and not torch.equal(*grads)


def test_a_diverged_environment_is_left_out():
    simulator = cgpo.torch.Simulator("ant", threads=1)
    state = simulator.start(5, seed=1)
    gain = torch.full((1,), 0.3, requires_grad=True)
    broken = state.clone()
    broken[2, 9] = 1e30
    whole = simulator.rollout(lambda o: torch.tanh(gain * o[:, :8]), steps=3, state=state)
    part = simulator.rollout(lambda o: torch.tanh(gain * o[:, :8]), steps=3, state=broken)
    assert part.diverged.tolist() == [False, False, True, False, False]
    assert (part.rewards[:, 2] == 0).all() and not part.alive[1:, 2].any()
    others = [0, 1, 3, 4]
    (expected,) = torch.autograd.grad(whole.rewards[:, others].sum(), gain)
    (found,) = torch.autograd.grad(part.rewards.sum(), gain)
    assert torch.isfinite(found) and torch.allclose(found, expected)


def test_second_derivatives_are_refused():
    """PyTorch's own refusal lets pass what begins with a gradient of 1, and gives a part of the derivative."""
    simulator = cgpo.torch.Simulator("function")
    weight = torch.zeros(1, requires_grad=True)
    state = simulator.start(2, seed=1)
    for value in (
        simulator.step(state, torch.tanh(weight * state)).reward.sum(),
        simulator.observe(weight + state).sum(),
    ):
        with pytest.raises(cgpo.Error, match="first derivatives only"):
            torch.autograd.grad(value, weight, create_graph=True)
        torch.autograd.grad(value, weight)


def test_an_episode_that_ends_counts_no_further():
    simulator = cgpo.torch.Simulator("hopper")
    steps = simulator.rollout(lambda o: torch.ones(o.shape[0], 3), environments=8, steps=60, seed=1)
    assert not steps.alive[-1].all()
    assert (steps.rewards[~steps.alive[:-1]] == 0).all()


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda s: s.step(torch.zeros(2, 3), torch.zeros(2, 1)), r"state must have the shape \(2, 4\), not \(2, 3\)"),
        (lambda s: s.step(torch.zeros(2, 4), torch.zeros(1, 1)), r"action must have the shape \(2, 1\), not \(1, 1\)"),
        (lambda s: s.step(torch.zeros(2, 4), torch.zeros(2, 1).double()), "they must be of one type"),
        (lambda s: s.step(torch.zeros(2, 4).half(), torch.zeros(2, 1).half()), "float32 or float64, not in torch.float16"),
        (lambda s: s.step(np.zeros((2, 4)), torch.zeros(2, 1)), "state must be a tensor, not ndarray"),
        (lambda s: s.start(0), "environments must be a whole number from 1"),
        (lambda s: cgpo.torch.Simulator("swimmer"), "task swimmer is not differentiable"),
        (lambda s: cgpo.torch.Simulator("ant", settings={"task.engine": "mujoco"}), "is not differentiable"),
        (lambda s: cgpo.torch.Simulator("cheetah"), "unknown task 'cheetah'"),
    ],
)
def test_says_what_is_wrong(call, sentence):
    with pytest.raises(cgpo.Error, match=sentence):
        call(cgpo.torch.Simulator("cartpole"))


def test_example_of_short_horizons_learns_within_its_limit():
    words = [sys.executable, str(ROOT / "examples" / "python" / "short_horizon.py")]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split("\n")
    first, last = ([float(word) for word in line.split()[3::2]] for line in (said[0], said[-2]))
    assert last[0] > first[0] + 250 and last[1] <= 400
