"""The log of a run as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas

# Lists of the log whose entries are those of the return, then of each cost.
_OF_SIGNALS = (
    "change_predicted", "change_realised", "change_se", "gradient_norms", "gradient_errors", "gradient_signals",
    "gradient_mixture", "critic_losses", "critic_explained", "critic_cosines",
)  # fmt: skip


class Log(Mapping[str, np.ndarray]):
    """The log of a run by column: a NumPy array for each field of `log.jsonl`, one entry an iteration.

    A field that is a list (`costs`, one number for each cost) is an array with a row for each iteration. Where an
    iteration has no number, there is NaN. `feasible` says whether an iteration's episodes kept all limits.

    >>> import cgpo
    >>> run = cgpo.train("function", iterations=3, out="log-run", progress=False)
    >>> run.log["return"].shape, run.log["costs"].shape
    ((3,), (3, 1))
    >>> list(run.log)[:4]
    ['iteration', 'steps', 'seconds', 'return']
    """

    def __init__(self, columns: dict[str, Any], costs: Sequence[str]) -> None:
        self._columns = {
            name: np.asarray(column, dtype=str if column and isinstance(column[0], str) else bool)
            if isinstance(column, list)
            else column
            for name, column in columns.items()
        }
        self._costs = list(costs)

    def __getitem__(self, name: str) -> np.ndarray:
        try:
            return self._columns[name]
        except KeyError:
            raise KeyError(f"the log has no '{name}'; it has {', '.join(self._columns)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return f"<Log: {len(self._columns['iteration'])} iterations of {', '.join(self._columns)}>"

    def _names(self, name: str, width: int) -> list[str]:
        if width == len(self._costs) and name not in _OF_SIGNALS:
            return [f"{name}.{cost}" for cost in self._costs]
        if width == len(self._costs) + 1 and name in _OF_SIGNALS:
            return [f"{name}.{signal}" for signal in ("return", *self._costs)]
        return [f"{name}.{i}" for i in range(width)]

    def to_pandas(self) -> pandas.DataFrame:
        """The log as a DataFrame of pandas, which must be installed; a column for each cost of a list.

        >>> import cgpo
        >>> run = cgpo.train("function", iterations=3, out="pandas-run", progress=False)
        >>> frame = run.log.to_pandas()
        >>> bool((frame["costs.height"] == run.log["costs"][:, 0]).all())
        True
        """
        try:
            import pandas
        except ImportError:
            raise ImportError("Log.to_pandas() needs pandas: pip install pandas") from None
        flat = {}
        for name, column in self._columns.items():
            if column.ndim == 1:
                flat[name] = column
            else:
                flat.update(zip(self._names(name, column.shape[1]), column.T))
        return pandas.DataFrame(flat).set_index("iteration")
