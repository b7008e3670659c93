"""What a person sees while a run trains: a bar on a terminal or in a notebook, a line a second elsewhere."""

from __future__ import annotations

import html
import shutil
import sys
import time
from collections.abc import Callable
from typing import Any

_BAR = 12  # characters


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _heading(opening: dict[str, Any]) -> str:
    done = f", going on after iteration {opening['done']}" if opening["done"] else ""
    return _printable(
        f"cgpo: {opening['algorithm']} on {opening['task']}, seed {opening['seed']}, in {opening['folder']}{done}"
    )


class Quiet:
    """Shows nothing."""

    def open(self, opening: dict[str, Any]) -> None:
        pass

    def show(self, iteration: int, text: str) -> None:
        pass

    def close(self) -> None:
        pass


class Stream(Quiet):
    """Lines of text: on a terminal one that changes, elsewhere the first, the last and one a second between."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.terminal = stream.isatty()
        self.pause = 0.05 if self.terminal else 1.0
        self.shown_at: float | None = None
        self.pending = ""
        self.iterations = 0

    def _write(self, text: str) -> None:
        try:
            self.stream.write(text)
            self.stream.flush()
        except (OSError, ValueError):  # nobody listens any more: the training goes on
            self.stream = _Nowhere()

    def _bar(self, iteration: int) -> str:
        full = round(_BAR * (iteration + 1) / max(1, self.iterations))
        return "━" * full + "╌" * (_BAR - full)

    def open(self, opening: dict[str, Any]) -> None:
        self.iterations = opening["iterations"]
        self._write(_heading(opening) + "\n")

    def show(self, iteration: int, text: str) -> None:
        now = time.monotonic()
        last = iteration + 1 >= self.iterations
        due = self.shown_at is None or now - self.shown_at >= self.pause or last
        line = f"{self._bar(iteration)} {text}" if self.terminal else text
        if not due:
            self.pending = line
            return
        self.pending = ""
        self.shown_at = now
        if self.terminal:
            # A line that wraps could not be drawn over.
            self._write("\r\x1b[2K" + line[: shutil.get_terminal_size().columns - 1])
        else:
            self._write(line + "\n")

    def close(self) -> None:
        if self.terminal and self.shown_at is not None:
            self._write("\n")
        elif self.pending:
            self._write(self.pending + "\n")


class _Nowhere:
    def write(self, text: str) -> None:
        pass

    def flush(self) -> None:
        pass


class Notebook(Quiet):
    """A bar and a line below it, in the output of a cell."""

    def __init__(self, display: Callable[..., Any], make_html: Callable[[str], Any]) -> None:
        self.display = display
        self.make_html = make_html
        self.handle: Any = None
        self.heading = ""
        self.iterations = 1
        self.shown_at = 0.0
        self.latest: tuple[int, str] | None = None  # that was not shown yet

    def _draw(self, iteration: int, text: str) -> None:
        page = (
            f"<div>{html.escape(self.heading)}</div>"
            f'<progress max="{self.iterations}" value="{iteration}" style="width:24em"></progress>'
            f'<pre style="margin:0">{html.escape(_printable(text))}</pre>'
        )
        if self.handle is None:
            self.handle = self.display(self.make_html(page), display_id=True)
        else:
            self.handle.update(self.make_html(page))

    def open(self, opening: dict[str, Any]) -> None:
        self.heading = _heading(opening)
        self.iterations = max(1, opening["iterations"])
        self._draw(opening["done"], "")

    def show(self, iteration: int, text: str) -> None:
        self.latest = (iteration + 1, text)
        now = time.monotonic()
        if now - self.shown_at < 0.2 and iteration + 1 < self.iterations:
            return
        self.shown_at = now
        self._draw(*self.latest)
        self.latest = None

    def close(self) -> None:
        if self.latest is not None:
            self._draw(*self.latest)


def _notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and getattr(shell, "kernel", None) is not None


def make(wanted: bool) -> Quiet:
    """What shows the progress here; `wanted` False: nothing does."""
    if not wanted:
        return Quiet()
    if _notebook():
        from IPython.display import HTML, display  # type: ignore[import-not-found]

        return Notebook(display, HTML)
    return Stream(sys.stderr) if sys.stderr is not None else Quiet()
