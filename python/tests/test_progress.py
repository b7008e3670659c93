"""What a person sees while a run trains."""

import io
import sys

import pytest

import cgpo
from cgpo import _progress

SHORT = {"iterations": 5, "environments": 16, "critic.steps": 8}
OPENING = {"algorithm": "cgpo", "task": "function", "seed": 0, "folder": "r", "iterations": 3, "done": 0}


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_plain_lines_have_the_first_and_the_last_iteration(capfd):
    cgpo.train("function", settings=SHORT, out="r")
    out, lines = capfd.readouterr()
    lines = lines.splitlines()
    assert out == "" and lines[0] == "cgpo: cgpo on function, seed 0, in r"
    assert lines[1].startswith("1/5  return ") and lines[-1].startswith("5/5  return ")


def test_a_terminal_has_one_line_with_a_bar(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", "60")
    cgpo.train("function", settings=SHORT, out="r")
    heading, rest = screen.getvalue().split("\n", 1)
    drawn = rest.rstrip("\n").split("\r\x1b[2K")
    assert drawn[0] == "" and "\n" not in drawn[-1]
    assert drawn[-1].startswith("━" * 12 + " 5/5  return") and all(len(line) < 60 for line in drawn)


def test_quiet_is_quiet(capfd):
    cgpo.train("function", settings=SHORT, out="r", progress=False)
    assert capfd.readouterr() == ("", "")


def test_nobody_listens():
    class Closed(Terminal):
        def write(self, text):
            raise BrokenPipeError

    shown = _progress.Stream(Closed())
    shown.open(OPENING)
    shown.show(0, "text")
    shown.close()


def test_names_give_no_orders_to_a_terminal():
    screen = Terminal()
    _progress.Stream(screen).open({**OPENING, "folder": "r\x1b[31m\nred"})
    assert "\x1b" not in screen.getvalue() and screen.getvalue().count("\n") == 1


@pytest.mark.parametrize("pace", [0.0, 10.0])
def test_a_notebook_has_a_bar_that_ends_full(monkeypatch, pace):
    pages, now = [], [0.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now[0])

    class Handle:
        def update(self, page):
            pages.append(page)

    def display(page, display_id):
        assert display_id is True and not pages
        pages.append(page)
        return Handle()

    shown = _progress.Notebook(display, str)
    shown.open(OPENING)
    for iteration in range(3):
        now[0] += pace
        shown.show(iteration, f"<{iteration}>")
    shown.close()
    assert 'max="3" value="0"' in pages[0] and 'value="3"' in pages[-1] and "&lt;2&gt;" in pages[-1]
    assert len(pages) == (4 if pace else 2)
