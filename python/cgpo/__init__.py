"""Safe reinforcement learning with analytic gradients through a differentiable simulator.

>>> import cgpo
>>> run = cgpo.train("function", iterations=5, seed=1, out="first-run", progress=False)
>>> run.evaluate(episodes=256)["task"]
'function'
"""

from cgpo import _library

_library.load()

from cgpo import _core, _functions, callbacks  # noqa: E402
from cgpo._core import Error  # noqa: E402
from cgpo._expressions import expression_of  # noqa: E402
from cgpo._functions import *  # noqa: E402, F403
from cgpo._lists import algorithms, check, settings, tasks  # noqa: E402
from cgpo._log import Log  # noqa: E402
from cgpo._robot import Moment, Robot  # noqa: E402
from cgpo._run import Report, Run, load  # noqa: E402
from cgpo._task import Random, State, Task  # noqa: E402
from cgpo._training import train  # noqa: E402

Error.__module__ = "cgpo"
Error.__doc__ = """What was asked for cannot be done; the sentence says why, and what is allowed. A ValueError.

>>> import cgpo
>>> try:
...     cgpo.train("cheetah")
... except cgpo.Error as error:
...     print(str(error)[:22])
unknown task 'cheetah'
"""
__version__ = _core.__version__
__all__ = [
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
    "callbacks",
    "check",
    "expression_of",
    "load",
    "settings",
    "tasks",
    "train",
]
__all__ += _functions.__all__
