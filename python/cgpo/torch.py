"""A differentiable simulator for PyTorch: steps and whole rollouts of a batch, whose gradients are exact.

What flows backwards are vector-Jacobian products by the same adjoint kernels that training uses. Tensors are on the CPU,
float32 or float64, one row an environment. Inside, environments lie side by side; what is handed out is a transposed view
of that, and goes into the next step, or into a layer of a network, without being copied.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


from cgpo import _core, _values
from cgpo._errors import Error

try:
    import torch
except ImportError:
    raise ImportError("cgpo.torch needs PyTorch: pip install torch") from None

__all__ = ["Rollout", "Simulator", "Step", "rollout", "step"]


class Step(NamedTuple):
    """What a step gives, row by row of environments.

    >>> import cgpo, torch
    >>> simulator = cgpo.torch.Simulator("halfcheetah")
    >>> after = simulator.step(simulator.start(4), torch.zeros(4, 6))
    >>> after.state.shape, after.reward.shape, after.costs.shape
    (torch.Size([4, 18]), torch.Size([4]), torch.Size([4, 1]))
    """

    state: torch.Tensor
    observation: torch.Tensor
    reward: torch.Tensor
    costs: torch.Tensor  #: [environments, costs], in the order of `Simulator.limits`
    ended: torch.Tensor  #: bool; has no gradient


class Rollout(NamedTuple):
    """Steps of a policy. Where an episode is over, or diverged, what would have followed counts 0.

    >>> import cgpo, torch
    >>> policy = torch.nn.Sequential(torch.nn.Linear(4, 1), torch.nn.Tanh())
    >>> steps = cgpo.torch.rollout(policy, "cartpole", environments=8, steps=5)
    >>> steps.observations.shape, steps.rewards.shape, steps.costs.shape
    (torch.Size([6, 8, 4]), torch.Size([5, 8]), torch.Size([5, 8, 1]))
    """

    observations: torch.Tensor  #: [steps + 1, environments, observations]
    actions: torch.Tensor  #: [steps, environments, actions]
    rewards: torch.Tensor  #: [steps, environments]
    costs: torch.Tensor  #: [steps, environments, costs]
    alive: torch.Tensor  #: bool [steps + 1, environments]: whether the episode goes on
    diverged: torch.Tensor  #: bool [environments]
    state: torch.Tensor  #: [environments, states], after the last step


def _rows(tensor: torch.Tensor) -> torch.Tensor:
    """[environments, n] as the module takes it: [n, environments], the latter side by side. A view, if it can be."""
    rows = tensor.detach().t()
    return rows if rows.stride(1) == 1 and rows.stride(0) >= rows.shape[1] else rows.contiguous()


def _new(rows: int, like: torch.Tensor) -> torch.Tensor:
    return torch.empty((rows, like.shape[0]), dtype=like.dtype)


def _once(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Refuses derivatives of derivatives, parts of which would be missing."""

    def checked(ctx: Any, *gradients: Any) -> Any:
        if torch.is_grad_enabled():
            raise Error("the simulator has first derivatives only, so there is no create_graph=True through it")
        return backward(ctx, *gradients)

    return checked


class _StepFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, steps: Any, state: torch.Tensor, action: torch.Tensor) -> Any:
        signals = 1 + len(steps.costs)
        next_state, observation = _new(steps.states, state), _new(steps.observations, state)
        signal, outcome, inner = _new(signals, state), _new(2, state), _new(steps.inner_rows, state)
        before = _rows(state), _rows(action)
        steps.forward(*before, next_state, observation, signal, outcome, inner)
        ctx.steps = steps
        ctx.save_for_backward(*before, next_state, inner)
        ended = outcome[1] != 0
        ctx.mark_non_differentiable(ended)
        # Copies of what is small: a view of one tensor may not be two outputs.
        return next_state.t(), observation.t(), signal[0].clone(), signal[1:].clone().t(), ended

    @staticmethod
    @_once
    def backward(ctx: Any, state: Any, observation: Any, reward: Any, costs: Any, _: Any) -> Any:
        saved = ctx.saved_tensors
        signal = torch.cat([reward.reshape(1, -1), costs.t()])
        of_state, of_action = torch.empty_like(saved[0]), torch.empty_like(saved[1])
        ctx.steps.backward(*saved, _rows(state), _rows(observation), signal, of_state, of_action)
        return None, of_state.t(), of_action.t()


class _ObserveFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, steps: Any, state: torch.Tensor) -> Any:
        ctx.steps = steps
        rows = _rows(state)
        ctx.save_for_backward(rows)
        observation = _new(steps.observations, state)
        steps.observe(rows, observation)
        return observation.t()

    @staticmethod
    @_once
    def backward(ctx: Any, observation: Any) -> Any:
        (state,) = ctx.saved_tensors
        of_state = torch.empty_like(state)
        ctx.steps.observe_backward(state, _rows(observation), of_state)
        return None, of_state.t()


class Simulator:
    """A task's simulator: start, observe, step, rollout, on batches of any size.

    settings, costs and limits are those of `cgpo.make`; threads: 0 takes all cores, and results do not depend on it. The
    simulator computes in the type of the tensors that it is given, float32 or float64.

    >>> import cgpo, torch
    >>> simulator = cgpo.torch.Simulator("ant")
    >>> state = simulator.start(16, seed=1)
    >>> action = torch.zeros(16, simulator.actions, requires_grad=True)
    >>> simulator.step(state, action).reward.sum().backward()
    >>> action.grad.shape
    torch.Size([16, 8])
    """

    def __init__(
        self,
        task: Any,
        *,
        settings: dict[str, Any] | None = None,
        costs: Any = None,
        limits: Any = None,
        threads: int = 0,
    ) -> None:
        chosen = _values.flat(_values.limited(settings, costs, limits))
        self._arguments = (_values.needed(task), chosen, _values.threads(threads))
        self._made: dict[torch.dtype, Any] = {}
        steps = self._steps(torch.float32)
        #: How many numbers a state, an observation and an action have.
        self.states, self.observations, self.actions = steps.states, steps.observations, steps.actions
        #: Steps of a whole episode.
        self.horizon = steps.horizon
        #: The limit of each cost by its name: the sum over an episode, in the mean, shall not be above it.
        self.limits = dict(zip(steps.costs, steps.limits))

    def _steps(self, dtype: torch.dtype) -> Any:
        if dtype not in self._made:
            kinds = {torch.float32: _core.FloatSteps, torch.float64: _core.DoubleSteps}
            if dtype not in kinds:
                raise Error(f"the simulator computes in float32 or float64, not in {dtype}")
            self._made[dtype] = kinds[dtype](*self._arguments)
        return self._made[dtype]

    def _check(self, what: str, tensor: torch.Tensor, size: int, like: torch.Tensor) -> None:
        if not isinstance(tensor, torch.Tensor):
            raise Error(f"{what} must be a tensor, not {type(tensor).__name__}")
        if tensor.device.type != "cpu":
            raise Error(f"the simulator runs on the CPU, and {what} is on {tensor.device}")
        if tensor.dtype != like.dtype:
            raise Error(f"state is {like.dtype}, and {what} {tensor.dtype}: they must be of one type")
        if tensor.shape != (like.shape[0], size):
            raise Error(f"{what} must have the shape ({like.shape[0]}, {size}), not {tuple(tensor.shape)}")

    def _check_state(self, state: torch.Tensor) -> None:
        if isinstance(state, torch.Tensor) and (state.ndim != 2 or state.shape[0] < 1):
            raise Error(f"state must have the shape (environments, {self.states}), not {tuple(state.shape)}")
        self._check("state", state, self.states, state)

    def start(
        self, environments: int, *, seed: int = 0, episode: int = 0, dtype: torch.dtype = torch.float32
    ) -> torch.Tensor:
        """Start states of so many episodes; that of environment i is the one of `cgpo.make(task).reset(seed + i)`.

        >>> import cgpo
        >>> cgpo.torch.Simulator("cartpole").start(3, seed=1).shape
        torch.Size([3, 4])
        """
        count = _values.whole("environments", environments, 1, 2**24)
        state = torch.empty((self.states, count), dtype=dtype)
        self._steps(dtype).start(_values.seed(seed), _values.whole("episode", episode, 0, 2**32 - 1), state)
        return state.t()

    def observe(self, state: torch.Tensor) -> torch.Tensor:
        """What a policy sees of states.

        >>> import cgpo
        >>> simulator = cgpo.torch.Simulator("halfcheetah")
        >>> simulator.observe(simulator.start(3)).shape
        torch.Size([3, 18])
        """
        self._check_state(state)
        return _ObserveFunction.apply(self._steps(state.dtype), state)

    def step(self, state: torch.Tensor, action: torch.Tensor) -> Step:
        """One step of every environment. Actions are those of a policy, within ±1; they are not clipped.

        Where the simulation diverges there are values that are not finite, or huge; `rollout` leaves them out.

        >>> import cgpo, torch
        >>> simulator = cgpo.torch.Simulator("function")
        >>> state = simulator.start(2, seed=1, dtype=torch.float64).requires_grad_()
        >>> simulator.step(state, torch.zeros(2, 1, dtype=torch.float64)).reward.sum().backward()
        >>> state.grad.shape
        torch.Size([2, 1])
        """
        self._check_state(state)
        self._check("action", action, self.actions, state)
        return Step(*_StepFunction.apply(self._steps(state.dtype), state, action))

    def rollout(
        self,
        policy: Callable[[torch.Tensor], torch.Tensor],
        *,
        environments: int = 256,
        steps: int | None = None,
        seed: int = 0,
        state: torch.Tensor | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> Rollout:
        """Steps a policy, which makes actions (within ±1) of observations, from start states or from `state`.

        steps: the task's horizon, unless it is given. An environment that diverges stays where it was, counts 0 from then
        on, and has no part in gradients.

        >>> import cgpo, torch
        >>> simulator = cgpo.torch.Simulator("halfcheetah")
        >>> policy = torch.nn.Sequential(torch.nn.Linear(18, 6), torch.nn.Tanh())
        >>> steps = simulator.rollout(policy, environments=32, steps=10)
        >>> (-steps.rewards.sum(0).mean() + steps.costs.sum(0).mean()).backward()
        >>> policy[0].weight.grad.norm() > 0
        tensor(True)
        >>> further = simulator.rollout(policy, steps=10, state=steps.state.detach())
        """
        count = self.horizon if steps is None else _values.whole("steps", steps, 1, 2**31 - 1)
        if state is None:
            state = self.start(environments, seed=seed, dtype=dtype)
        own = self._steps(state.dtype)
        goes_on = [not stops for stops in own.stops]
        observation = self.observe(state)
        alive = torch.ones(state.shape[0], dtype=torch.bool)
        diverged = ~alive
        heard: dict[str, list[torch.Tensor]] = {name: [] for name in ("actions", "rewards", "costs")}
        observations, lives = [observation], [alive]
        for _ in range(count):
            action = policy(observation)
            after = self.step(state, action)
            with torch.no_grad():
                finite = (after.state.abs() <= own.bound).all(1) & after.observation.isfinite().all(1)
                finite &= after.reward.isfinite() & after.costs.isfinite().all(1)
                diverged = diverged | ~finite
            whole = bool(finite.all())
            state = after.state if whole else torch.where(finite[:, None], after.state, state)
            observation = after.observation if whole else torch.where(finite[:, None], after.observation, observation)
            heard["actions"].append(action)
            heard["rewards"].append(_counted(after.reward, alive, diverged, goes_on[0]))
            costs = [_counted(cost, alive, diverged, on) for cost, on in zip(after.costs.unbind(1), goes_on[1:])]
            heard["costs"].append(torch.stack(costs, 1) if costs else after.costs)
            alive = alive & ~after.ended & ~diverged
            observations.append(observation)
            lives.append(alive)
        actions, rewards, costs_of = (torch.stack(heard[name]) for name in ("actions", "rewards", "costs"))
        return Rollout(torch.stack(observations), actions, rewards, costs_of, torch.stack(lives), diverged, state)


def _counted(signal: torch.Tensor, alive: torch.Tensor, diverged: torch.Tensor, goes_on: bool) -> torch.Tensor:
    """A signal where it counts: some go on after an episode's end, none after a divergence."""
    counts = ~diverged if goes_on else alive & ~diverged
    return signal if bool(counts.all()) else torch.where(counts, signal, torch.zeros_like(signal))


_simulators: dict[str, Simulator] = {}


def _simulator(task: Any) -> Simulator:
    if isinstance(task, Simulator):
        return task
    word = _values.word(task)
    if word.endswith(".toml"):  # which may have changed
        return Simulator(task)
    if word not in _simulators:
        _simulators[word] = Simulator(task)
    return _simulators[word]


def step(state: torch.Tensor, action: torch.Tensor, task: Any) -> Step:
    """One step of a task, or of a `Simulator`: differentiable with respect to state and action.

    >>> import cgpo, torch
    >>> state = cgpo.torch.Simulator("cartpole").start(8, seed=1)
    >>> action = torch.zeros(8, 1, requires_grad=True)
    >>> cgpo.torch.step(state, action, "cartpole").costs.sum().backward()
    >>> action.grad.shape
    torch.Size([8, 1])
    """
    return _simulator(task).step(state, action)


def rollout(policy: Callable[[torch.Tensor], torch.Tensor], task: Any, **arguments: Any) -> Rollout:
    """Steps of a policy in a task, or in a `Simulator`; arguments are those of `Simulator.rollout`.

    >>> import cgpo, torch
    >>> policy = torch.nn.Sequential(torch.nn.Linear(18, 6), torch.nn.Tanh())
    >>> cgpo.torch.rollout(policy, "halfcheetah", environments=4, steps=3).rewards.shape
    torch.Size([3, 4])
    """
    return _simulator(task).rollout(policy, **arguments)
