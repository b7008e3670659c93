"""Safe reinforcement learning with analytic gradients through a differentiable simulator."""

from cgpo import _library

_library.load()

from cgpo import _core, _functions  # noqa: E402
from cgpo._core import Error  # noqa: E402
from cgpo._functions import *  # noqa: E402, F403
from cgpo._robot import Moment, Robot  # noqa: E402
from cgpo._task import Random, State, Task  # noqa: E402

__version__ = _core.__version__
__all__ = ["Error", "Moment", "Random", "Robot", "State", "Task", *_functions.__all__]  # noqa: F405
