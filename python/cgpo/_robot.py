"""Robots from MJCF files, and what can be said of them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from cgpo import _core
from cgpo._array import is_traced, traced_source
from cgpo._errors import Error
from cgpo._expressions import quoted, toml_key, toml_value


class Unknown(Error, AttributeError):
    """There is no such name; Python's hasattr asks, too."""


def _in_quotes(name: str) -> str:
    return f'"{name}"' if "'" in name else f"'{name}'"


class Robot:
    """A robot: its MJCF file, or the text itself, what drives it, and how our engine steps it.

    actuators: some to add, each a dict as `[[robot.actuators]]` of a task file has it: a `joint` (a name, or a pattern with
    * and ?), its `kind` ("motor" unless it says another), `gear`, gains, `range`, `force_range`. substeps: physics steps of
    a step, of our engine (mujoco_substeps: of MuJoCo's). action_scale and action_offset: the control is offset + scale ·
    action, each a number or one for each actuator; a scale of "range" reaches all of every control range. contact, limit:
    numbers of the floor and of joint limits, by name.

    >>> import cgpo
    >>> from pathlib import Path
    >>> _ = Path("rod.xml").write_text(cgpo.Robot.EXAMPLE)
    >>> rod = cgpo.Robot("rod.xml", actuators=[{"kind": "position", "joint": "hinge", "kp": 5, "range": [-1, 1]}])
    >>> rod
    Robot(nq=1, nv=1, nu=2, bodies: world, rod)
    >>> rod.actuators
    ['motor', 'hinge']
    """

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_words": {}}  # which are made when they are needed

    #: A rod on a hinge, with a motor: for examples.
    EXAMPLE = """<mujoco><option timestep="0.01"/><worldbody><body name="rod"><joint name="hinge" axis="0 1 0"/>
    <geom name="stick" type="capsule" fromto="0 0 0 0 0 1" size="0.05"/><site name="tip" pos="0 0 1"/></body></worldbody>
    <actuator><motor name="motor" joint="hinge" gear="10" ctrllimited="true" ctrlrange="-1 1"/></actuator></mujoco>"""

    def __init__(
        self,
        file: str | os.PathLike[str],
        *,
        actuators: Iterable[Mapping[str, Any]] = (),
        substeps: int | None = None,
        mujoco_substeps: int | None = None,
        action_scale: float | str | Sequence[float] = 1.0,
        action_offset: float | Sequence[float] | None = None,
        contact: Mapping[str, float] | None = None,
        limit: Mapping[str, float] | None = None,
    ) -> None:
        text = os.fspath(file)
        is_text = text.lstrip().startswith("<")
        if not is_text and not os.path.exists(text):
            raise Error(f"'{text}' does not exist, or cannot be read")
        lines = [f"mjcf = {quoted(text)}" if is_text else f"file = {quoted(os.path.abspath(text))}"]
        given: dict[str, Any] = {"substeps": substeps, "mujoco_substeps": mujoco_substeps, "action_offset": action_offset}
        if not (isinstance(action_scale, (int, float)) and action_scale == 1.0):
            given["action_scale"] = action_scale
        lines += [f"{key} = {toml_value(value)}" for key, value in given.items() if value is not None]
        for key, numbers in (("contact", contact), ("limit", limit)):
            if numbers:
                lines.append(f"{key} = {toml_value(dict(numbers))}")
        self._tables = ["[robot]\n" + "\n".join(lines) + "\n"]
        for actuator in actuators:
            rows = "\n".join(f"{toml_key(key)} = {toml_value(value)}" for key, value in dict(actuator).items())
            self._tables.append(f"[[robot.actuators]]\n{rows}\n")
        self._words: dict[float, Any] = {}
        self._sizes: dict[tuple[str, bool], Any] = {}
        self._description: dict[str, Any] = json.loads(self._words_for(0.01).describe_json())

    def _words_for(self, period: float) -> Any:
        if period not in self._words:
            text = f'horizon = 1\nperiod = {period!r}\nobservation = "qpos"\nreward = 0\n\n' + self.table()
            self._words[period] = _core.RobotWords(text, "robot")
        return self._words[period]

    def table(self) -> str:
        """Its part of a task file.

        >>> import cgpo
        >>> from pathlib import Path
        >>> _ = Path("rod.xml").write_text(cgpo.Robot.EXAMPLE)
        >>> print(cgpo.Robot("rod.xml", substeps=5).table(), end="")
        [robot]
        file = "...rod.xml"
        substeps = 5
        """
        return "\n".join(self._tables)

    @property
    def nq(self) -> int:
        """How many positions it has, as in MuJoCo.

        >>> import cgpo
        >>> cgpo.Robot(cgpo.Robot.EXAMPLE).nq
        1
        """
        return self._description["nq"]

    @property
    def nv(self) -> int:
        """How many velocities it has.

        >>> import cgpo
        >>> cgpo.Robot(cgpo.Robot.EXAMPLE).nv
        1
        """
        return self._description["nv"]

    @property
    def nu(self) -> int:
        """How many actuators it has, which are the actions.

        >>> import cgpo
        >>> cgpo.Robot(cgpo.Robot.EXAMPLE).nu
        1
        """
        return self._description["nu"]

    @property
    def na(self) -> int:
        """How many activations of actuators are in its state.

        >>> import cgpo
        >>> cgpo.Robot(cgpo.Robot.EXAMPLE).na
        0
        """
        return self._description["na"]

    @property
    def timestep(self) -> float:
        """That of its file, in seconds.

        >>> import cgpo
        >>> cgpo.Robot(cgpo.Robot.EXAMPLE).timestep
        0.01
        """
        return self._description["timestep"]

    @property
    def qpos0(self) -> np.ndarray:
        """The positions that its file has.

        >>> import cgpo
        >>> cgpo.Robot(cgpo.Robot.EXAMPLE).qpos0
        array([0.])
        """
        return np.array(self._description["qpos0"])

    @property
    def bodies(self) -> list[str]:
        """Names of its bodies.

        >>> import cgpo
        >>> cgpo.Robot(cgpo.Robot.EXAMPLE).bodies
        ['world', 'rod']
        """
        return self._names("body")

    @property
    def joints(self) -> list[str]:
        """Names of its joints.

        >>> import cgpo
        >>> cgpo.Robot(cgpo.Robot.EXAMPLE).joints
        ['hinge']
        """
        return self._names("joint")

    @property
    def sites(self) -> list[str]:
        """Names of its sites.

        >>> import cgpo
        >>> cgpo.Robot(cgpo.Robot.EXAMPLE).sites
        ['tip']
        """
        return self._names("site")

    @property
    def geoms(self) -> list[str]:
        """Names of its geoms.

        >>> import cgpo
        >>> cgpo.Robot(cgpo.Robot.EXAMPLE).geoms
        ['stick']
        """
        return self._names("geom")

    @property
    def actuators(self) -> list[str]:
        """Names of its actuators.

        >>> import cgpo
        >>> cgpo.Robot(cgpo.Robot.EXAMPLE).actuators
        ['motor']
        """
        return self._names("actuator")

    @property
    def joint_ranges(self) -> dict[str, list[float] | None]:
        """[low, high] of each joint by name, None if it may go anywhere.

        >>> import cgpo
        >>> cgpo.Robot(cgpo.Robot.EXAMPLE).joint_ranges
        {'hinge': None}
        """
        return dict(self._description.get("joint_ranges") or {})

    @property
    def actuator_ranges(self) -> dict[str, list[float] | None]:
        """[low, high] of each actuator's control by name, None if it may be anything.

        >>> import cgpo
        >>> cgpo.Robot(cgpo.Robot.EXAMPLE).actuator_ranges
        {'motor': [-1.0, 1.0]}
        """
        return dict(self._description.get("actuator_ranges") or {})

    def _names(self, thing: str) -> list[str]:
        return list(self._description["things"][thing]["names"])

    @property
    def quantities(self) -> dict[str, str]:
        """What can be asked of it at a moment, with its meaning, by how it is written.

        >>> import cgpo
        >>> one = cgpo.Robot(cgpo.Robot.EXAMPLE)
        >>> one.quantities["joint('NAME').velocity"]
        'its part of qvel'
        """
        found = dict(self._description["names"])
        for word, thing in self._description["things"].items():
            name = f"{word}('NAME')" if thing["named"] else word
            found.update({f"{name}.{member}": meaning for member, meaning in thing["members"].items()})
        return found

    def at(
        self,
        qpos: Any = None,
        qvel: Any = None,
        *,
        activation: Any = (),
        action: Any = (),
        previous_action: Any = (),
        time: float = 0.0,
        period: float = 0.01,
        **states: Any,
    ) -> Moment:
        """A moment in plain numbers, to try a task's methods at: `task.observe(task.robot.at(qpos, qvel))`.

        What is not given is as in the file, at rest. states: own states of the task, by name.

        >>> import cgpo
        >>> rod = cgpo.Robot(cgpo.Robot.EXAMPLE)
        >>> rod.at(qpos=[0.5]).body("rod").com.round(3).tolist()
        [0.24, 0.0, 0.439]
        """
        words = self._words_for(float(period))
        given = {
            "qpos": _plain(self.qpos0 if qpos is None else qpos),
            "qvel": _plain(np.zeros(self.nv) if qvel is None else qvel),
            "activation": _plain(activation),
            "action": _plain(action),
            "previous_action": _plain(previous_action),
            "time": float(time),
        }

        def look(text: str) -> Any:
            numbers, is_vector = words.value(text, **given)
            return _vector(numbers) if is_vector else float(numbers[0])

        return Moment(self, look, {name: _vector(value) if np.ndim(value) else value for name, value in states.items()})

    def _traced(self, trace: Any, moment: Any, with_action: bool, states: Any) -> Moment:
        """A moment of a trace."""

        def look(text: str) -> Any:
            key = (text, with_action)
            if key not in self._sizes:
                self._sizes[key] = self._words_for(0.01).size(text, with_action)
            return traced_source(trace, moment, text, self._sizes[key])

        return Moment(self, look, states)

    def __repr__(self) -> str:
        return f"Robot(nq={self.nq}, nv={self.nv}, nu={self.nu}, bodies: {', '.join(self.bodies)})"


class Vector(np.ndarray):
    """Plain numbers with the entries' names that traced ones have."""

    x = property(lambda self: self[0])
    y = property(lambda self: self[1])
    z = property(lambda self: self[2])


def _vector(values: Any) -> Vector:
    return np.asarray(values, dtype=float).view(Vector)


def _plain(values: Any) -> list[float]:
    if is_traced(values):
        raise Error("a moment in plain numbers cannot have traced ones")
    return [float(value) for value in np.asarray(values, dtype=float).reshape(-1)]


class _Thing:
    """One of the robot's bodies, joints, …, or all that a pattern fits: its members are quantities."""

    def __init__(self, moment: Any, text: str, members: Any) -> None:
        self._moment = moment
        self._text = text
        self._members = members

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._moment._look(f"{self._text}.{name}")

    def __dir__(self) -> list[str]:
        return sorted(self._members)


class Moment:
    """A robot at one moment: `now.qpos`, `now.time`, `now.body('torso').velocity`, `now.joint('*_knee').position`.

    The names are those of task files (`Robot.quantities` lists them), and those of the task's own states.

    >>> import cgpo
    >>> robot = cgpo.Robot(cgpo.Robot.EXAMPLE)
    >>> now = robot.at(time=1.5, target=[1.0, 2.0])
    >>> now.time, now.target
    (1.5, Vector([1., 2.]))
    """

    def __init__(self, robot: Any, look: Any, states: Any) -> None:
        self._robot = robot
        self._look = look
        self._states = states
        self._known: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._states:
            return self._states[name]
        description = self._robot._description
        thing = description["things"].get(name)
        if thing is None and name not in description["names"]:
            known = sorted([*description["names"], *description["things"], *self._states])
            raise Unknown(f"there is no '{name}' at a moment; there are: {', '.join(known)}")
        if thing is None:
            return self._once(name)
        members = thing["members"]
        if not thing["named"]:
            return _Thing(self, name, members)
        return lambda wanted: _Thing(self, f"{name}({_in_quotes(str(wanted))})", members)

    def _once(self, name: str) -> Any:
        if name not in self._known:
            self._known[name] = self._look(name)
        return self._known[name]

    def __dir__(self) -> list[str]:
        description = self._robot._description
        return sorted([*description["names"], *description["things"], *self._states])
