"""From the methods of a task to the text of a task file."""

from __future__ import annotations

import inspect
import re
import threading
from typing import Any

import numpy as np

from cgpo._array import entries_of, traced_source
from cgpo._errors import Error
from cgpo._expressions import Expressions, Trace, quoted, toml_key, toml_value
from cgpo._given import Random, State
from cgpo._robot import Robot


def name_of(task: Any) -> str:
    name = task.name or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", type(task).__name__).lower()
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", str(name)):
        raise Error(f"a task's name has letters, digits, _ and - alone, not {name!r}")
    return str(name)


def _summary_of(task: Any) -> str:
    if task.summary:
        return str(task.summary)
    doc = inspect.getdoc(type(task)) if type(task).__doc__ else None
    return doc.splitlines()[0] if doc else f"the class {type(task).__name__}"


_now = threading.local()  # what each thread traces, so that threads may share a task


def traced_option(task: Any, name: str) -> Any:
    """An option of a task as the text says it, if this thread traces it now; else None."""
    for tracing in getattr(_now, "tracing", ()):
        if tracing.task is task:
            return traced_source(tracing.trace, "any", name, None)
    return None


class Tracing:
    """One task, its methods run once over traced arrays."""

    def __init__(self, task: Any) -> None:
        self.task = task
        self.title = type(task).__name__
        self.robot = self._robot()
        self.trace = Trace(self.title)  # of the methods that are called now
        self.own: dict[str, int | None] = {}  # states by name: their size, None of one number
        self.define: dict[str, str] = {}
        self.methods: dict[str, Any] = {}  # what became of each

    # ---- what the class says ---------------------------------------------------------------------------------------

    def _robot(self) -> Robot | None:
        robot = self.task.robot
        if robot is not None and not isinstance(robot, Robot):
            raise Error(f"{self.title}.robot is a cgpo.Robot, not {type(robot).__name__}")
        return robot

    def _whole(self, name: str, what: str) -> int:
        value = getattr(self.task, name)
        if isinstance(value, (bool, float)) or not hasattr(value, "__index__") or int(value) < 1:
            raise Error(f"{self.title} needs {name}, {what}: a whole number from 1, not {value!r}")
        return int(value)

    def _has(self, method: str) -> bool:
        return callable(getattr(type(self.task), method, None))

    def _call(self, method: str, *arguments: Any) -> Any:
        if not self._has(method):
            raise Error(f"{self.title} needs a method {method}({', '.join(_ARGUMENTS[method])})")
        bound = getattr(self.task, method)
        try:
            inspect.signature(bound).bind(*arguments)
        except TypeError:
            raise Error(
                f"{self.title}.{method} is called as {method}({', '.join(_ARGUMENTS[method])}), and takes "
                f"{inspect.signature(bound)}"
            ) from None
        try:
            result = bound(*arguments)
        except ValueError as error:
            # NumPy has a sentence of its own where a traced number is put into an array that cannot hold it.
            raise error.__cause__ if isinstance(error.__cause__, Error) else error
        if result is None:
            raise Error(f"{self.title}.{method} returned nothing; is a `return` missing?")
        return result

    # ---- results ---------------------------------------------------------------------------------------------------

    def _vector(self, result: Any, what: str) -> Any:
        entries = self._entries(result, what)
        if entries.ndim > 1:
            raise Error(f"{what} is a vector, not a shape of {entries.shape}; np.ravel makes one")
        return list(entries.reshape(-1))

    def _one(self, result: Any, what: str) -> Any:
        entries = self._entries(result, what)
        if entries.size != 1 or entries.ndim > 1:
            raise Error(f"{what} is one number, not {_count(entries)}; np.sum, cgpo.norm or [0] make one of them")
        return entries.reshape(-1)[0]

    def _entries(self, result: Any, what: str) -> Any:
        if isinstance(result, (list, tuple)):
            # Numbers and vectors one after the other.
            parts = [self._entries(part, what) for part in result]
            return np.concatenate([part.reshape(-1) for part in parts]) if parts else np.empty(0, dtype=object)
        try:
            return entries_of(result)
        except Error:
            raise Error(f"{what} is made of numbers, not of {type(result).__name__}") from None

    # ---- the methods, one after the other --------------------------------------------------------------------------

    def text(self) -> str:
        self._check_options()
        before = getattr(_now, "tracing", ())
        _now.tracing = (*before, self)
        try:
            return self._text()
        finally:
            _now.tracing = before

    def _check_options(self) -> None:
        for name in self.task.options:
            if not str(name).isidentifier() or str(name).startswith("_"):
                raise Error(f"{self.title}.options: {name!r} is no name; one begins with a letter")
            if any(name in vars(base) for base in type(self.task).__mro__):
                raise Error(f"{self.title}.options: '{name}' is an attribute of the class already; choose another name")

    def _text(self) -> str:
        task = self.task
        horizon = self._whole("horizon", "steps of an episode")
        head = [f"name = {quoted(name_of(task))}", f"summary = {quoted(_summary_of(task))}", f"horizon = {horizon}"]
        if task.period is not None:
            head.append(f"period = {toml_value(float(task.period))}")
        elif self.robot is not None:
            raise Error(f"{self.title} needs period, seconds for which its robot keeps an action, such as 0.05")
        if self.robot is None:
            self.actions = self._whole("actions", "how many numbers the policy chooses")
            head.append(f"actions = {self.actions}")
        else:
            self.actions = self.robot.nu
            if task.actions is not None and task.actions != self.actions:
                raise Error(f"{self.title}.actions is {task.actions}, and its robot has {self.actions} actuators")
            if self._has("step"):
                raise Error(f"{self.title}.step is of tasks without a robot, which steps by itself")
        start = self._start()
        observation = self._observation()
        step = self._step() if self.robot is None else ""
        outcome, costs = self._outcome()
        self.methods = {"reset": start, "observe": observation, "step": step, "reward, costs or done": (outcome, costs, self.define)}
        head.append(f"observation = {quoted(observation)}")
        head += outcome
        if not task.reward_stops_at_end:
            head.append("reward_stops_at_end = false")
        parts = ["\n".join(head) + "\n"]
        if self.robot is not None:
            parts.append(self.robot.table())
        parts.append(_table("options", {name: toml_value(value) for name, value in task.options.items()}))
        parts.append(_table("define", {name: quoted(text) for name, text in self.define.items()}))
        parts += [*start, step, *costs]
        parts.append(_table("defaults", {name: toml_value(value) for name, value in _flat(task.defaults)}, raw=True))
        return "\n".join(part for part in parts if part)

    def _begin(self, method: str) -> str:
        """What follows is the trace of a method, and of those that see the same moments; its name, for messages."""
        self.trace = Trace(f"{self.title}.{method}")
        return self.trace.name

    def _say(self, moment: str, text: Any) -> str:
        return f"before({text})" if moment == "earlier" else text

    def _expressions(self, outputs: Any, what: str) -> Expressions:
        return Expressions(self.trace, self._say, outputs, what)

    def _start(self) -> list[str]:
        what = self._begin("reset")
        if self.robot is not None and not self._has("reset"):
            return []
        random = Random(self.trace)
        result = self._call("reset", random)
        if self.robot is None:
            state = self._vector(result, what)
            if not state:
                raise Error(f"{what} returned no numbers, and the state has at least one")
            if self.task.states is not None and len(state) != self.task.states:
                raise Error(f"{what} returned {len(state)} numbers, and states is {self.task.states}")
            self.own = {"state": len(state)}
            text = self._expressions(state, what).program(state, vector=True)
            return [self._draws(random), _table("states", {"state": quoted(text)})]
        if not isinstance(result, dict):
            raise Error(
                f"{what} of a robot returns a dict, such as {{'qpos': …, 'qvel': …}}, not {type(result).__name__}"
            )
        reset = self._pose(result, what)
        states = {}
        for name, value in result.items():
            if name in ("qpos", "qvel", "position", "velocity", "lift"):
                continue
            if not str(name).isidentifier() or name.startswith("_"):
                raise Error(f"{what}: {name!r} is no name of a state; one begins with a letter")
            if name in self.robot._description["names"] or name in self.robot._description["things"]:
                raise Error(f"{what}: '{name}' means something already; choose another name for the state")
            entries = self._entries(value, f"{what}, {name}")
            self.own[name] = None if entries.ndim == 0 else entries.size
            states[name] = quoted(self._program(entries, f"{what}, {name}"))
        return [self._draws(random), *reset, _table("states", states)]

    def _pose(self, result: Any, what: str) -> list[str]:
        """The tables of a robot's start."""
        rows = {}
        robot = self.robot
        assert robot is not None
        for name, size in (("qpos", robot.nq), ("qvel", robot.nv)):
            if name not in result:
                continue
            entries = self._entries(result[name], f"{what}, {name}")
            if entries.ndim != 0 and entries.size != size:
                raise Error(f"{what}: {name} has {size} numbers, not {entries.size}")
            rows[name] = quoted(self._program(entries, f"{what}, {name}"))
        if "lift" in result:
            rows["lift"] = toml_value(bool(result["lift"]))
        tables = [_table("reset", rows)]
        for kind in ("position", "velocity"):
            joints = result.get(kind, {})
            if not isinstance(joints, dict):
                raise Error(f"{what}: {kind} is a dict of joints, by name or pattern")
            lines = {}
            for joint, value in joints.items():
                lines[joint] = quoted(self._program(self._entries(value, f"{what}, {joint}"), f"{what}, {joint}"))
            tables.append(_table(f"reset.{kind}", lines))
        return tables

    def _program(self, entries: Any, what: str) -> str:
        outputs = list(entries.reshape(-1))
        return self._expressions(outputs, what).program(outputs, vector=entries.ndim > 0)

    def _draws(self, random: Random) -> str:
        lines = {}
        for name, function, bounds, size in random._draws:
            what = f"{self.title}.reset, random.{function}"
            lines[name] = quoted(
                self._expressions(bounds, what).call(function, bounds, [] if size is None else [str(size)])
            )
        return _table("draws", lines)

    def _moment(self, moment: str, with_action: bool) -> Any:
        if self.robot is None:
            entries = traced_source(self.trace, moment, "state", self.own["state"])._entries
            return State(entries, (self.trace, moment, self.actions))
        states = {name: traced_source(self.trace, moment, name, size) for name, size in self.own.items()}
        return self.robot._traced(self.trace, moment, with_action, states)

    def _observation(self) -> str:
        what = self._begin("observe")
        outputs = self._vector(self._call("observe", self._moment("now", False)), what)
        if not outputs:
            raise Error(f"{what} returned no numbers, and the policy sees at least one")
        if self.task.observations is not None and len(outputs) != self.task.observations:
            raise Error(f"{what} returned {len(outputs)} numbers, and observations is {self.task.observations}")
        return self._expressions(outputs, what).program(outputs, vector=True)

    def _action(self) -> Any:
        return traced_source(self.trace, "any", "action", self.actions)

    def _step(self) -> str:
        what = self._begin("step")
        outputs = self._vector(self._call("step", self._moment("now", True), self._action()), what)
        if len(outputs) != self.own["state"]:
            raise Error(f"{what} returned {len(outputs)} numbers, and {self.title}.reset {self.own['state']}")
        return _table("step", {"state": quoted(self._expressions(outputs, what).program(outputs, vector=True))})

    def _outcome(self) -> tuple[list[str], list[str]]:
        """What follows from a step: lines at the top of the file, and the tables of costs."""
        what = self._begin("reward")
        before, action, after = self._moment("earlier", False), self._action(), self._moment("now", True)
        outputs = {"reward": self._one(self._call("reward", before, action, after), f"{self.title}.reward")}
        if self._has("reward_paper"):
            result = self._call("reward_paper", before, action, after)
            outputs["reward_paper"] = self._one(result, f"{self.title}.reward_paper")
        if self._has("done"):
            outputs["end"] = self._one(self._call("done", before, action, after), f"{self.title}.done")
        costs = self._costs(before, action, after)
        every = [*outputs.values(), *costs.values()]
        expressions = self._expressions(every, f"{what}, costs or done")
        if expressions.shares([[output] for output in every]):
            self.define["_outcome"] = expressions.program(every, vector=True)
            texts = [f"_outcome[{i}]" for i in range(len(every))]
        else:
            texts = [expressions.program([output], vector=False) for output in every]
        lines = [f"{name} = {quoted(text)}" for name, text in zip(outputs, texts, strict=False)]
        tables = []
        for (name, text), limit in zip(zip(costs, texts[len(outputs) :], strict=True), self._limits(), strict=True):
            row = {"name": quoted(name), "expression": quoted(text), **limit}
            tables.append("[[costs]]\n" + "".join(f"{key} = {value}\n" for key, value in row.items()))
        return lines, tables

    def _costs(self, before: Any, action: Any, after: Any) -> dict[str, Any]:
        limits = self.task.limits
        if not isinstance(limits, dict):
            raise Error(f"{self.title}.limits is a dict of limits by the names of costs, such as {{'effort': 10.0}}")
        if not limits and not self._has("costs"):
            return {}
        result = self._call("costs", before, action, after)
        if not isinstance(result, dict):
            if len(limits) != 1:
                raise Error(f"{self.title}.costs returns a dict of numbers by name, not {type(result).__name__}")
            result = {next(iter(limits)): result}
        if set(result) != set(limits):
            raise Error(
                f"{self.title}.costs returned {', '.join(map(str, result)) or 'none'}, and limits has "
                f"{', '.join(map(str, limits)) or 'none'}; they are the same names (math.inf: no limit)"
            )
        return {str(name): self._one(result[name], f"{self.title}.costs, {name}") for name in limits}

    def _limits(self) -> Any:
        for name, limit in self.task.limits.items():
            rows = dict(limit) if isinstance(limit, dict) else {"limit": limit}
            unknown = set(rows) - {"limit", "meaning", "standard", "stops_at_end"}
            if unknown or "limit" not in rows:
                raise Error(
                    f"{self.title}.limits, {name}: a number, or a dict with limit, and maybe meaning, standard and stops_at_end"
                )
            if isinstance(rows["limit"], bool) or not isinstance(rows["limit"], (int, float, np.number)):
                raise Error(f"{self.title}.limits, {name}: a limit is a number, not {rows['limit']!r}")
            yield {
                "limit": toml_value(float(rows["limit"])),
                "meaning": quoted(str(rows.get("meaning", name))),
                **{key: toml_value(bool(rows[key])) for key in ("standard", "stops_at_end") if key in rows},
            }


def text_of(task: Any) -> str:
    """The text of a task's file. It is traced twice, which shows what a method draws or remembers by itself."""
    first, second = Tracing(task), Tracing(task)
    text = first.text()
    if second.text() != text:
        differ = [method for method, said in first.methods.items() if said != second.methods[method]]
        raise Error(
            f"{first.title}.{' and '.join(differ) or 'reset'} is another one each time it is traced, and would become a "
            "constant: draw with the `random` that reset gets (random.uniform, random.normal), and keep what lasts in the state"
        )
    return text


_ARGUMENTS = {
    "reset": ["self", "random"],
    "step": ["self", "state", "action"],
    "observe": ["self", "now"],
    "reward": ["self", "before", "action", "after"],
    **{name: ["self", "before", "action", "after"] for name in ("reward_paper", "costs", "done")},
}


def _count(entries: Any) -> str:
    return f"a shape of {entries.shape}" if entries.ndim > 1 else f"a vector of {entries.size}"


def _table(title: str, rows: dict[str, str], raw: bool = False) -> str:
    if not rows:
        return ""
    return f"[{title}]\n" + "".join(f"{key if raw else toml_key(key)} = {value}\n" for key, value in rows.items())


def _flat(settings: dict[str, Any], prefix: str = "") -> Any:
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
