"""Robots from MJCF files, and what can be said of them."""

import json
import os

import numpy as np

from cgpo import _core
from cgpo._array import Array, Node, Source, is_traced
from cgpo._core import Error
from cgpo._expressions import quoted, toml_key, toml_value


class Unknown(Error, AttributeError):
    """There is no such name; Python's hasattr asks, too."""


def _in_quotes(name):
    return f'"{name}"' if "'" in name else f"'{name}'"


class Robot:
    """A robot: its MJCF file, or the text itself, what drives it, and how our engine steps it.

    actuators: some to add, each a dict as `[[robot.actuators]]` of a task file has it: a `joint` (a name, or a pattern with
    * and ?), its `kind` ("motor" unless it says another), `gear`, gains, `range`, `force_range`. substeps: physics steps of
    a step, of our engine (mujoco_substeps: of MuJoCo's). action_scale and action_offset: the control is offset + scale ·
    action. contact, limit: numbers of the floor and of joint limits, by name.

    >>> import cgpo
    >>> pendulum = cgpo.Robot('''<mujoco><worldbody><body name="rod"><joint name="hinge" axis="0 1 0"/>
    ...   <geom type="capsule" fromto="0 0 0 0 0 1" size="0.05"/></body></worldbody></mujoco>''',
    ...   actuators=[{"joint": "hinge", "gear": 5, "range": [-1, 1]}])
    >>> pendulum.nq, pendulum.nu, pendulum.joints
    (1, 1, ['hinge'])
    >>> pendulum
    Robot(nq=1, nv=1, nu=1, bodies: world, rod)
    """

    def __init__(
        self,
        file,
        *,
        actuators=(),
        substeps=None,
        mujoco_substeps=None,
        action_scale=1.0,
        action_offset=None,
        contact=None,
        limit=None,
    ):
        text = os.fspath(file)
        is_text = text.lstrip().startswith("<")
        if not is_text and not os.path.exists(text):
            raise Error(f"'{text}' does not exist, or cannot be read")
        lines = [f"mjcf = {quoted(text)}" if is_text else f"file = {quoted(os.path.abspath(text))}"]
        given = {"substeps": substeps, "mujoco_substeps": mujoco_substeps, "action_offset": action_offset}
        if action_scale != 1.0:
            given["action_scale"] = action_scale
        lines += [f"{key} = {toml_value(value)}" for key, value in given.items() if value is not None]
        for key, numbers in (("contact", contact), ("limit", limit)):
            if numbers:
                lines.append(f"{key} = {toml_value(dict(numbers))}")
        self._tables = ["[robot]\n" + "\n".join(lines) + "\n"]
        for actuator in actuators:
            rows = "\n".join(f"{toml_key(key)} = {toml_value(value)}" for key, value in dict(actuator).items())
            self._tables.append(f"[[robot.actuators]]\n{rows}\n")
        self._words = {}
        self._sizes = {}
        self._description = json.loads(self._words_for(0.01).describe_json())

    def _words_for(self, period):
        if period not in self._words:
            text = f'horizon = 1\nperiod = {period!r}\nobservation = "qpos"\nreward = 0\n\n' + self.table()
            self._words[period] = _core.RobotWords(text, "robot")
        return self._words[period]

    def table(self):
        """Its part of a task file.

        >>> import cgpo
        >>> one = cgpo.Robot('<mujoco><worldbody/></mujoco>', action_scale=2)
        >>> print(one.table(), end="")
        [robot]
        mjcf = "<mujoco><worldbody/></mujoco>"
        action_scale = 2
        """
        return "\n".join(self._tables)

    nq = property(lambda self: self._description["nq"], doc="How many positions it has, as in MuJoCo.")
    nv = property(lambda self: self._description["nv"], doc="How many velocities.")
    nu = property(lambda self: self._description["nu"], doc="How many actuators, which are the actions.")
    na = property(lambda self: self._description["na"], doc="How many activations of actuators.")
    timestep = property(lambda self: self._description["timestep"], doc="That of its file, in seconds.")
    qpos0 = property(lambda self: np.array(self._description["qpos0"]), doc="The positions that its file has.")
    bodies = property(lambda self: self._names("body"), doc="Names of its bodies.")
    joints = property(lambda self: self._names("joint"), doc="Names of its joints.")
    sites = property(lambda self: self._names("site"), doc="Names of its sites.")
    geoms = property(lambda self: self._names("geom"), doc="Names of its geoms.")
    actuators = property(lambda self: self._names("actuator"), doc="Names of its actuators.")
    joint_ranges = property(
        lambda self: dict(self._description.get("joint_ranges") or {}), doc="[low, high] of each joint; None: any."
    )
    actuator_ranges = property(
        lambda self: dict(self._description.get("actuator_ranges") or {}),
        doc="[low, high] of each actuator's control; None: any.",
    )

    def _names(self, thing):
        return list(self._description["things"][thing]["names"])

    @property
    def quantities(self):
        """What can be asked of it at a moment, with its meaning, by how it is written.

        >>> import cgpo
        >>> one = cgpo.Robot('<mujoco><worldbody/></mujoco>')
        >>> one.quantities["joint('NAME').velocity"]
        'its part of qvel'
        """
        found = dict(self._description["names"])
        for word, thing in self._description["things"].items():
            name = f"{word}('NAME')" if thing["named"] else word
            found.update({f"{name}.{member}": meaning for member, meaning in thing["members"].items()})
        return found

    def at(self, qpos=None, qvel=None, *, activation=(), action=(), previous_action=(), time=0.0, period=0.01, **states):
        """A moment in plain numbers, to try a task's methods at: `task.observe(task.robot.at(qpos, qvel))`.

        What is not given is as in the file, at rest. states: own states of the task, by name.

        >>> import cgpo
        >>> rod = cgpo.Robot('''<mujoco><worldbody><body name="rod"><joint name="hinge" axis="0 1 0"/>
        ...   <geom type="capsule" fromto="0 0 0 0 0 1" size="0.05"/></body></worldbody></mujoco>''')
        >>> rod.at(qpos=[0.5]).body("rod").com.round(3)
        array([0.24 , 0.   , 0.439])
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

        def look(text):
            numbers, is_vector = words.value(text, **given)
            return np.array(numbers) if is_vector else float(numbers[0])

        return Moment(self, look, {name: np.asarray(value, dtype=float) for name, value in states.items()})

    def _traced(self, trace, moment, with_action, states):
        """A moment of a trace."""

        def look(text):
            key = (text, with_action)
            if key not in self._sizes:
                self._sizes[key] = self._words_for(0.01).size(text, with_action)
            return traced_source(trace, moment, text, self._sizes[key])

        return Moment(self, look, states)

    def __repr__(self):
        return f"Robot(nq={self.nq}, nv={self.nv}, nu={self.nu}, bodies: {', '.join(self.bodies)})"


def traced_source(trace, moment, text, size):
    """What a moment has, as an array: of one number if size is None."""
    if size is None:
        return Array(Node("source", source=Source(trace, moment, text)))
    entries = np.empty(size, dtype=object)
    for i in range(size):
        entries[i] = Node("source", source=Source(trace, moment, text, i, size))
    return Array(entries)


def _plain(values):
    if is_traced(values):
        raise Error("a moment in plain numbers cannot have traced ones")
    return [float(value) for value in np.asarray(values, dtype=float).reshape(-1)]


class _Thing:
    """One of the robot's bodies, joints, …, or all that a pattern fits: its members are quantities."""

    def __init__(self, moment, text, members):
        self._moment = moment
        self._text = text
        self._members = members

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self._moment._look(f"{self._text}.{name}")

    def __dir__(self):
        return sorted(self._members)


class Moment:
    """A robot at one moment: `now.qpos`, `now.time`, `now.body('torso').velocity`, `now.joint('*_knee').position`.

    The names are those of task files (`Robot.quantities` lists them), and those of the task's own states.

    >>> import cgpo
    >>> robot = cgpo.Robot('<mujoco><worldbody/></mujoco>')
    >>> now = robot.at(time=1.5, target=[1.0, 2.0])
    >>> now.time, now.target
    (1.5, array([1., 2.]))
    """

    def __init__(self, robot, look, states):
        self._robot = robot
        self._look = look
        self._states = states
        self._known = {}

    def __getattr__(self, name):
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

    def _once(self, name):
        if name not in self._known:
            self._known[name] = self._look(name)
        return self._known[name]

    def __dir__(self):
        description = self._robot._description
        return sorted([*description["names"], *description["things"], *self._states])
