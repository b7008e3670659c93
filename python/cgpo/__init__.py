"""Safe reinforcement learning with analytic gradients through a differentiable simulator."""

from cgpo import _library

_library.load()

from cgpo import _core  # noqa: E402
from cgpo._core import Error  # noqa: E402

__version__ = _core.__version__
__all__ = ["Error"]
