"""Callbacks for `cgpo.train`."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any


class TensorBoard:
    """Writes every number of the log for TensorBoard, whose package must be installed (PyTorch need not be).

    Steps on the axis are environment steps. Close it, or use it in a `with` block, once training is done.

    >>> import cgpo
    >>> with cgpo.callbacks.TensorBoard("board") as board:
    ...     run = cgpo.train("function", iterations=3, out="board-run", callback=board, progress=False)
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        try:
            from tensorboard.compat.proto.event_pb2 import Event
            from tensorboard.compat.proto.summary_pb2 import Summary
            from tensorboard.summary.writer.event_file_writer import EventFileWriter
        except ImportError:
            raise ImportError("cgpo.callbacks.TensorBoard needs tensorboard: pip install tensorboard") from None
        self._event, self._summary = Event, Summary
        self._writer = EventFileWriter(str(folder))

    def __call__(self, line: dict[str, Any]) -> None:
        numbers = dict(_numbers("", line))
        values = [self._summary.Value(tag=tag, simple_value=number) for tag, number in numbers.items()]
        event = self._event(wall_time=time.time(), step=line["steps"], summary=self._summary(value=values))
        self._writer.add_event(event)

    def close(self) -> None:
        """Writes what is left, and ends the file.

        >>> import cgpo
        >>> cgpo.callbacks.TensorBoard("closed-board").close()
        """
        self._writer.close()

    def __enter__(self) -> TensorBoard:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _numbers(name: str, value: Any) -> Iterator[tuple[str, float]]:
    """Numbers by tag: costs/0 of a list, world/state_error of what is deeper."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return
    if isinstance(value, (int, float)):
        yield name, float(value)
        return
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield from _numbers(f"{name}/{key}" if name else str(key), item)
