"""From traced numbers to the expressions of a task file, which mean the same."""

from __future__ import annotations

import math
from typing import Any

from cgpo._array import entries_of, traced_source
from cgpo._errors import Error
from cgpo._nodes import Node

# How tightly an operator binds, as a task file's grammar has it.
_OR, _AND, _NOT, _COMPARISON, _SUM, _PRODUCT, _SIGN, _ATOM = range(8)
_OPERATORS = {
    "or": (" or ", _OR),
    "and": (" and ", _AND),
    "less": (" < ", _COMPARISON),
    "less_equal": (" <= ", _COMPARISON),
    "equal": (" == ", _COMPARISON),
    "unequal": (" != ", _COMPARISON),
    "add": (" + ", _SUM),
    "sub": (" - ", _SUM),
    "mul": (" * ", _PRODUCT),
    "div": (" / ", _PRODUCT),
}
_LONGEST = 120  # letters of what stands inside another expression; longer gets a name


def number(value: Any, what: str) -> str:
    """A known number as an expression."""
    value = float(value)
    if not math.isfinite(value):
        raise Error(f"{what} has a number that is not finite, {value}")
    return repr(value)


class Trace:
    """One pass through a task's methods. What was made in another is not known in this one."""

    def __init__(self, name: str) -> None:
        self.name = name


class Expressions:
    """Texts for some outputs of a trace. What several parts need gets a name of its own; so does what is long."""

    def __init__(self, trace: Trace, say: Any, outputs: list[Any], what: str) -> None:
        self._trace = trace
        self._say = say  # from (moment, text) to an expression
        self._what = what
        self._outputs = outputs
        self._alike: dict[Any, Node] = {}  # nodes that mean the same are one
        self._one: dict[Node, Node] = {}
        self._uses: dict[Node, int] = {}
        self._texts: dict[Node, tuple[str, int]] = {}
        self._named: dict[Node, str] = {}
        self._order = self._find(outputs)
        self._spell()

    def shares(self, groups: Any) -> bool:
        """Whether any name is needed by two of these groups of outputs."""
        seen: set[Node] = set()
        for group in groups:
            names = set(self._names_below(group))
            if names & seen:
                return True
            seen |= names
        return False

    def program(self, outputs: list[Any], vector: bool) -> str:
        """An expression for outputs: a vector of them, or the one alone."""
        if not vector:
            return self.call("", [outputs[0]])
        lines = self._lines(outputs)
        parts = [part for run in self._runs(outputs) for part in self._spelled_run(run)]
        whole = len(parts) == 1 and isinstance(outputs[0], Node) and outputs[0].source is not None and len(outputs) > 1
        return "\n".join([*lines, parts[0] if whole else f"[{', '.join(parts)}]"])

    def call(self, function: Any, outputs: list[Any], more: Any = ()) -> str:
        """A call of a function with these arguments, and texts behind them; without a name the one output itself."""
        arguments = ", ".join([*map(self._part, outputs), *more])
        return "\n".join([*self._lines(outputs), f"{function}({arguments})" if function else arguments])

    def _lines(self, outputs: list[Any]) -> list[str]:
        return [f"{self._named[node]} = {self._texts[node][0]};" for node in self._names_below(outputs)]

    def _runs(self, outputs: list[Any]) -> list[list[Any]]:
        """Outputs in groups: entries of one vector that follow each other, or one by itself."""
        runs: list[list[Any]] = []
        for output in outputs:
            source = output.source if isinstance(output, Node) else None
            last = runs[-1][-1].source if runs and isinstance(runs[-1][-1], Node) else None
            if source is not None and source.at and last == source._replace(at=source.at - 1):
                runs[-1].append(output)
            else:
                runs.append([output])
        return runs

    def _spelled_run(self, run: Any) -> list[str]:
        if len(run) < 3 and not (len(run) > 1 and len(run) == run[0].source.size):
            return [self._part(output) for output in run]
        first = run[0].source
        text = self._say(first.moment, first.text)
        end = first.at + len(run)
        if len(run) == first.size:
            return [text]
        return [f"{text}[{first.at or ''}:{end if end < first.size else ''}]"]

    def _part(self, output: Any) -> str:
        if not isinstance(output, Node):
            return number(output, self._what)
        one = self._one[output]
        return self._named.get(one) or self._texts[one][0]

    def _names_below(self, outputs: list[Any]) -> list[Node]:
        """Named nodes that outputs need, in the order in which they were made."""
        seen, open_ = set(), [self._one[o] for o in outputs if isinstance(o, Node)]
        while open_:
            node = open_.pop()
            if node in seen:
                continue
            seen.add(node)
            open_ += [self._one[o] for o in node.operands if isinstance(o, Node)]
        return sorted((node for node in seen if node in self._named), key=lambda node: node.serial)

    def _find(self, outputs: list[Any]) -> list[Node]:
        """All nodes that are needed, operands first; nodes that are alike become one."""
        reached, open_ = {}, [o for o in outputs if isinstance(o, Node)]
        while open_:
            node = open_.pop()
            if node in reached:
                continue
            reached[node] = True
            open_ += [o for o in node.operands if isinstance(o, Node)]
        order = []
        for node in sorted(reached, key=lambda node: node.serial):
            if node.source is not None and node.source.trace is not self._trace:
                raise Error(
                    f"{self._what} uses a traced value that was kept from elsewhere (from {node.source.trace.name}); what lasts "
                    "from step to step is state"
                )
            key = (
                node.op,
                node.source,
                tuple(self._one[o] if isinstance(o, Node) else _bits(o) for o in node.operands),
            )
            one = self._alike.setdefault(key, node)
            self._one[node] = one
            if one is node:
                order.append(node)
        for node in order:
            for operand in node.operands:
                if isinstance(operand, Node):
                    self._use(operand)
        for output in outputs:
            if isinstance(output, Node):
                self._use(output)
        return order

    def _use(self, node: Node) -> None:
        one = self._one[node]
        self._uses[one] = self._uses.get(one, 0) + 1

    def _spell(self) -> None:
        for node in self._order:
            text, binds = self._spelled(node)
            self._texts[node] = (text, binds)
            if node.source is None and (self._uses[node] > 1 or len(text) > _LONGEST):
                self._named[node] = f"_{len(self._named) + 1}"

    def _spelled(self, node: Node) -> tuple[str, int]:
        if node.source is not None:
            text = self._say(node.source.moment, node.source.text)
            return text if node.source.at is None else f"{text}[{node.source.at}]", _ATOM
        if node.op in _OPERATORS:
            sign, binds = _OPERATORS[node.op]
            # Comparisons in a row would be a chain.
            left = self._operand(node.operands[0], binds + (binds == _COMPARISON))
            return left + sign + self._operand(node.operands[1], binds + 1), binds
        if node.op == "neg":
            return "-" + self._operand(node.operands[0], _SIGN), _SIGN
        if node.op == "not":
            return "not " + self._operand(node.operands[0], _NOT), _NOT
        return f"{node.op}({', '.join(self._operand(o, _OR) for o in node.operands)})", _ATOM

    def _operand(self, operand: Any, least: int) -> str:
        if not isinstance(operand, Node):
            text = number(operand, self._what)
            return f"({text})" if text.startswith("-") and least > _OR else text
        one = self._one[operand]
        if one in self._named:
            return self._named[one]
        text, binds = self._texts[one]
        return text if binds >= least else f"({text})"


def _bits(value: Any) -> str:
    # -0.0 is not 0.0, and True is 1.
    return float(value).hex()


def expression_of(function: Any, *sizes: int | None) -> str:
    """What a function of traced arrays is as an expression of a task file: to look at what is made of one's code.

    sizes: how many numbers each argument has, None of one number. They are called a, b, c, … here.

    >>> import cgpo, numpy as np
    >>> cgpo.expression_of(lambda v, w: np.sin(v[0]) * w, 2, None)
    'sin(a[0]) * b'
    """
    trace = Trace("expression_of")
    names = [chr(ord("a") + i) for i in range(len(sizes))]
    result = function(*(traced_source(trace, "any", name, size) for name, size in zip(names, sizes, strict=True)))
    entries = entries_of(result)
    outputs = list(entries.reshape(-1))
    return Expressions(trace, lambda moment, text: text, outputs, "the function").program(
        outputs, vector=entries.ndim > 0
    )


def quoted(text: str) -> str:
    """A text as TOML has it, readable if it has lines."""
    if "\n" in text and "'''" not in text and all(c >= " " or c in "\n\t" for c in text):
        return f"'''\n{text}'''"
    escaped = "".join(f"\\{c}" if c in '"\\' else f"\\u{ord(c):04x}" if c < " " or c == "\x7f" else c for c in text)
    return f'"{escaped}"'


def toml_value(value: Any) -> str:
    """A value of Python as TOML has it."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return "nan" if math.isnan(value) else ("-inf" if value < 0 else "inf") if math.isinf(value) else repr(value)
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(toml_value(item) for item in value)}]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{toml_key(k)} = {toml_value(v)}" for k, v in value.items()) + " }"
    raise Error(f"{value!r} is no value that a task's description can hold")


def toml_key(key: Any) -> str:
    key = str(key)
    plain = key and all(c.isascii() and (c.isalnum() or c in "_-") for c in key)
    return key if plain else quoted(key)
