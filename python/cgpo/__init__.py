"""Safe reinforcement learning with analytic gradients through a differentiable simulator.

>>> import cgpo
>>> run = cgpo.train("function", iterations=5, seed=1, out="first-run", progress=False)
>>> run.evaluate(episodes=256)["task"]
'function'
"""

from typing import TYPE_CHECKING

from cgpo import _library

_library.load()

from cgpo import _core, _functions, _lazy, _registration, callbacks
from cgpo._black_box import BlackBox, black_box
from cgpo._errors import Error
from cgpo._expressions import expression_of
from cgpo._functions import *
from cgpo._lazy import make, make_vec
from cgpo._lists import algorithms, check, settings, tasks
from cgpo._log import Log
from cgpo._registration import register
from cgpo._robot import Moment, Robot
from cgpo._run import Report, Run, load
from cgpo._task import Random, State, Task
from cgpo._training import train

if TYPE_CHECKING:  # imported when they are first asked for; a name that is none of these is a mistake
    from cgpo import environments, safety, sb3, torch
else:
    __getattr__ = _lazy.module

__version__ = _core.version
_registration.register_now_or_later()
__all__ = [
    "BlackBox",
    "Error",
    "Log",
    "Moment",
    "Random",
    "Report",
    "Robot",
    "Run",
    "State",
    "Task",
    "algorithms",
    "black_box",
    "callbacks",
    "check",
    "expression_of",
    "load",
    "make",
    "make_vec",
    "register",
    "settings",
    "tasks",
    "train",
]
__all__ += _functions.__all__


def __dir__() -> list[str]:
    return sorted({*globals(), *_lazy.MODULES})
