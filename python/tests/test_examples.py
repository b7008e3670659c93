"""Every example: those of the docstrings, which every public name has, and the Python blocks of the pages."""

import doctest
import importlib
import inspect
import pathlib
import pkgutil
import re

import pytest

import cgpo

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [*sorted((ROOT / "docs" / "python").glob("*.md")), ROOT / "docs" / "guide" / "export.md"]
# What needs packages that the tests here lack has its examples run by `make test-python-full`.
FULL = {"torch": "torch", "sb3": "stable_baselines3"}


def public_things():
    """(name, object) of all that users may use: what modules list, and the public members of classes among them."""
    modules = ["cgpo"] + [f"cgpo.{m.name}" for m in pkgutil.iter_modules(cgpo.__path__) if not m.name.startswith("_")]
    for name in modules:
        if FULL.get(name.split(".")[-1]) and not importlib.util.find_spec(FULL[name.split(".")[-1]]):
            continue
        module = importlib.import_module(name)
        listed = getattr(module, "__all__", None) or [
            n for n, o in vars(module).items() if getattr(o, "__module__", "") == name
        ]
        for entry in listed:
            thing = getattr(module, entry)
            if entry.startswith("_") or inspect.ismodule(thing):
                continue
            yield f"{name}.{entry}", thing
            if inspect.isclass(thing):
                ours = [vars(base) for base in reversed(thing.__mro__) if base.__module__.split(".")[0] == "cgpo"]
                for member, found in {name: found for base in ours for name, found in base.items()}.items():
                    if not member.startswith("_") and (
                        inspect.isfunction(found) or isinstance(found, (property, classmethod, staticmethod))
                    ):
                        yield f"{name}.{entry}.{member}", found


THINGS = dict(public_things())


@pytest.mark.parametrize("name", THINGS)
def test_docstring_has_an_example_that_works(name):
    text = inspect.getdoc(THINGS[name])
    assert text, f"{name} has no docstring"
    examples = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    assert examples.examples, f"the docstring of {name} has no example"
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    said = []
    runner.run(examples, out=said.append)
    assert runner.failures == 0, "".join(said)


@pytest.mark.parametrize("name", THINGS)
def test_is_typed(name):
    """All that goes in and comes out says its type; of a class, what makes it."""
    thing = THINGS[name]
    thing = thing.fget if isinstance(thing, property) else getattr(thing, "__func__", thing)
    if inspect.isclass(thing):
        thing = vars(thing).get("__init__")
    if not inspect.isfunction(thing):
        return
    signature = inspect.signature(thing)
    bare = [p.name for p in signature.parameters.values() if p.annotation is p.empty and p.name not in ("self", "cls")]
    assert not bare, f"{name} does not say the type of {', '.join(bare)}"
    assert signature.return_annotation is not signature.empty, f"{name} does not say what it returns"


def test_docstring_of_the_package_works():
    assert doctest.testmod(cgpo).failed == 0


def lacks(block):
    """What a block imports that only `make test-python-full` has."""
    names = re.findall(r"^(?:import|from) (\w+)", block, re.M)
    return [name for name in names if name in FULL.values() and not importlib.util.find_spec(name)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_runs(page):
    """The Python blocks of a page, one after the other, in one namespace; those with a title have tests of their own."""
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.M | re.S)
    assert blocks, f"{page.name} has no Python"
    if lacks(blocks[0]):
        pytest.skip(f"needs {', '.join(lacks(blocks[0]))}")
    names = {"__name__": "__main__"}
    for block in blocks:
        if not lacks(block):
            exec(compile(block, page.name, "exec"), names)
