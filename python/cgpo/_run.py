"""A run: its folder, and what can be asked of it."""

from __future__ import annotations

import contextlib
import html
import json
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cgpo import _core, _values
from cgpo._errors import Error
from cgpo._log import Log


class Report(os.PathLike[str]):
    """The page of a run: an HTML file that needs no network, and is shown in a notebook.

    >>> import cgpo
    >>> run = cgpo.train("function", iterations=3, out="report-run", progress=False)
    >>> page = run.report(episodes=64)
    >>> page.path.name
    'report.html'
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        #: Where the page is.
        self.path = Path(path).resolve()

    def __fspath__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"Report('{_near(self.path)}')"

    def _repr_html_(self) -> str:
        page = html.escape(self.path.read_text(encoding="utf-8"))
        return f'<iframe srcdoc="{page}" style="width:100%;height:45em;border:0"></iframe>'


class Run:
    """A run that was trained, in its folder. `cgpo.train` returns one, `cgpo.load` opens one that is there.

    >>> import cgpo
    >>> cgpo.train("function", iterations=3, seed=1, out="a-run", progress=False)
    Run('a-run': cgpo on function, seed 1, 3 of 3 iterations)
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        allow_command: bool = False,
        settings: dict[str, Any] | None = None,
    ) -> None:
        #: Where it is, a Path.
        given = Path(_values.needed_path(folder, "folder"))
        self.folder = given.resolve()
        self._consent: dict[str, Any] = {"allow_command": bool(allow_command), "given": _values.flat(settings)}
        self._policies: dict[str, tuple[Any, _core.Policy]] = {}
        self._configuration: tuple[Any, dict[str, Any]] | None = None
        _core.find_run(given)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_policies": {}, "_configuration": None}  # which are read again when they are asked for

    def __repr__(self) -> str:
        c = self.configuration
        return (
            f"Run('{_near(self.folder)}': {c['algorithm']} on {c['task.name']}, seed {c['seed']}, "
            f"{len(self.log['iteration'])} of {c['iterations']} iterations)"
        )

    @property
    def configuration(self) -> dict[str, Any]:
        """Every setting of the run by its dotted key, as its `config.toml` has it.

        >>> import cgpo
        >>> run = cgpo.train("function", iterations=3, out="configuration-run", progress=False)
        >>> run.configuration["task.name"], run.configuration["iterations"], run.configuration["policy.hidden"]
        ('function', 3, [64, 64])
        """
        file = self.folder / "config.toml"
        written = _stamp(file)
        if self._configuration is None or self._configuration[0] != written:
            self._configuration = (written, _configuration_in(file))
        return dict(self._configuration[1])

    @property
    def log(self) -> Log:
        """What training logged, by column: see `Log`.

        >>> import cgpo
        >>> run = cgpo.train("function", iterations=3, out="logged-run", progress=False)
        >>> run.log["iteration"].tolist()
        [0, 1, 2]
        """
        c = self.configuration
        return Log(_core.read_log(self.folder / "log.jsonl", c["environments"]), c["costs"])

    def _last(self, name: str) -> Any:
        column = self.log[name]
        return column[-1] if len(column) else None

    @property
    def return_(self) -> float | None:
        """Mean return of the last iteration's episodes; None before the first.

        >>> import cgpo
        >>> run = cgpo.train("function", iterations=3, out="return-run", progress=False)
        >>> run.return_ == float(run.log["return"][-1])
        True
        """
        last = self._last("return")
        return None if last is None else float(last)

    @property
    def costs(self) -> dict[str, float]:
        """Mean of each cost over the last iteration's episodes, by name.

        >>> import cgpo
        >>> cgpo.train("function", iterations=3, out="costs-run", progress=False).costs.keys()
        dict_keys(['height'])
        """
        names = self.configuration["costs"]
        last = self._last("costs") if names and "costs" in self.log else None
        return {} if last is None else dict(zip(names, map(float, last)))

    @property
    def limits(self) -> dict[str, float]:
        """The upper bound of each cost, by name.

        >>> import cgpo
        >>> cgpo.train("function", iterations=3, limits=[7.5], out="limits-run", progress=False).limits
        {'height': 7.5}
        """
        c = self.configuration
        return dict(zip(c["costs"], map(float, c["limits"])))

    @property
    def feasible(self) -> bool | None:
        """Whether the last iteration's episodes kept all limits; None before the first. `evaluate` judges the policy.

        >>> import cgpo
        >>> cgpo.train("function", iterations=3, out="feasible-run", progress=False).feasible in (True, False)
        True
        """
        last = self._last("feasible")
        return None if last is None else bool(last)

    def _policy(self, checkpoint: str) -> _core.Policy:
        _values.needed_text("checkpoint", checkpoint, "best")
        name = {"best": "best.safetensors"}.get(checkpoint, "checkpoint.safetensors")
        written = _stamp(self.folder / name)
        found = self._policies.get(checkpoint)
        if found is None or found[0] != written:
            with _black_box_named():
                found = (written, _core.Policy.load(self.folder, checkpoint, **self._consent))
            self._policies[checkpoint] = found
        return found[1]

    @property
    def observations(self) -> int:
        """How many numbers an observation has.

        >>> import cgpo
        >>> cgpo.train("function", iterations=3, out="seen-run", progress=False).observations
        1
        """
        return self._policy("last").observations

    @property
    def actions(self) -> int:
        """How many numbers an action has.

        >>> import cgpo
        >>> cgpo.train("function", iterations=3, out="acting-run", progress=False).actions
        1
        """
        return self._policy("last").actions

    def policy(
        self,
        observations: ArrayLike,
        noise: bool = False,
        seed: int | None = None,
        *,
        step: int = 0,
        checkpoint: str = "last",
    ) -> np.ndarray:
        """Actions, each within ±1, for observations as the task gives them: one (a vector) or many (rows).

        Without noise it is the policy as it is deployed. With noise, row i has that of environment i at this step of an
        evaluation with this seed; without a seed, noise that is fresh. checkpoint: "last", or "best", the best feasible
        policy of the run.

        >>> import cgpo, numpy as np
        >>> run = cgpo.train("function", iterations=3, out="policy-run", progress=False)
        >>> run.policy(np.zeros((5, 1))).shape, run.policy([0.5]).shape
        ((5, 1), (1,))
        >>> bool(np.all(run.policy([0.5], noise=True, seed=1) == run.policy([0.5], noise=True, seed=1)))
        True
        """
        policy = self._policy(checkpoint)
        given = np.asarray(observations)
        try:
            rows = np.ascontiguousarray(np.atleast_2d(given), dtype=np.float32)
        except (TypeError, ValueError):
            raise Error(f"observations are numbers, and {observations!r} is none") from None
        if given.ndim not in (1, 2) or rows.shape[1] != policy.observations:
            raise Error(f"observations are ({policy.observations},) or (n, {policy.observations}), not {given.shape}")
        if noise and seed is None:
            seed = int.from_bytes(os.urandom(7), "little")
        actions = policy.act(rows, _values.seed(seed) if noise else None, _values.whole("step", step, 0, 2**32 - 1))
        return actions[0] if given.ndim == 1 else actions

    def evaluate(
        self,
        episodes: int = 4096,
        *,
        engine: str = "",
        deterministic: bool = False,
        checkpoint: str = "last",
        seed: int | None = None,
        substeps: int = 0,
        settings: dict[str, Any] | None = None,
        explain: bool = False,
        threads: int = 0,
    ) -> dict[str, Any]:
        """Fresh episodes with the policy, and what they say: the object that `cgpo eval --json` prints, as a dict.

        engine: "own" or "mujoco", whatever the run was trained on. settings: options of the task that differ
        ("task.contact_stiffness"). explain: also says what looks wrong.

        >>> import cgpo
        >>> run = cgpo.train("function", iterations=3, out="evaluated-run", progress=False)
        >>> found = run.evaluate(episodes=256)
        >>> sorted(found["return"])[:2], found["costs"][0]["name"]
        (['mean', 'se'], 'height')
        """
        text = self._policy(checkpoint).evaluate_json(
            episodes=_values.whole("episodes", episodes, 1, 100_000_000),
            deterministic=bool(deterministic),
            seed=_values.seed(seed),
            engine=_values.text("engine", engine, "mujoco") or "",
            substeps=_values.whole("substeps", substeps, 0, 1000),
            settings=_values.flat(settings),
            explain=bool(explain),
            threads=_values.threads(threads),
        )
        found: dict[str, Any] = json.loads(text)
        return found

    def export(
        self,
        to: str,
        out: str | os.PathLike[str],
        *,
        checkpoint: str = "last",
        episodes: int = 1024,
        force: bool = False,
        policy_action: bool = False,
        name: str = "cgpo_policy",
        threads: int = 0,
    ) -> dict[str, Any]:
        """Writes the policy, without noise, as one file that needs neither cgpo nor the task, and returns what is in it.

        to: "onnx", "c" (a C99 header) or "torch" (a Python file with a `torch.nn.Module`); the file is `out`, and one that
        is there is replaced with force=True alone. It takes a raw observation and returns the physical control, all scales
        included; for a task without a robot, the action itself. The verdict in it is of so many episodes (0: none).
        policy_action: of ONNX, a second output, what `policy` returns. name: of C, what its names begin with. What comes
        back is the object that `cgpo export --json` prints, as a dict.

        >>> import cgpo
        >>> run = cgpo.train("function", iterations=3, out="exported-run", progress=False)
        >>> said = run.export("c", out="policy.h", episodes=64)
        >>> said["out"], said["limits"], said["checkpoint"]
        ('policy.h', [8.0], 'last')
        """
        found: dict[str, Any] = json.loads(
            self._policy(checkpoint).export_json(
                to=str(to),
                out=os.fspath(out),
                force=bool(force),
                episodes=_values.whole("episodes", episodes, 0, 100_000_000),
                policy_action=bool(policy_action),
                name=str(name),
                threads=_values.threads(threads),
            )
        )
        return found

    def report(
        self,
        out: str | os.PathLike[str] | None = None,
        *,
        episodes: int = 1024,
        replays: int = 1,
        seed: int | None = None,
        threads: int = 0,
    ) -> Report:
        """Writes the page of the run (curves, verdict, the robot moving), and returns it: a notebook shows it.

        >>> import cgpo
        >>> run = cgpo.train("function", iterations=3, out="shown-run", progress=False)
        >>> run.report("page.html", episodes=64)
        Report('page.html')
        """
        with _black_box_named():
            page = _core.write_report(
                folders=[str(self.folder)],
                out=_values.path(out),
                episodes=_values.whole("episodes", episodes, 0, 100_000_000),
                replays=_values.whole("replays", replays, 0, 16),
                seed=_values.seed(seed),
                threads=_values.threads(threads),
                **self._consent,
            )
        return Report(page)


@contextlib.contextmanager
def _black_box_named() -> Iterator[None]:
    """A task that nobody knows may be a black box that this process has not made."""
    try:
        yield
    except Error as error:
        if not str(error).startswith("unknown task"):
            raise
        raise Error(f"{error}; if it is a black box, make it first: cgpo.black_box(...)") from None


def _near(path: Path) -> Path:
    """As one would write it here."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _configuration_in(file: Path) -> dict[str, Any]:
    try:
        found = dict(_values.flat(tomllib.loads(file.read_text(encoding="utf-8"))))
    except OSError as error:
        raise Error(f"cannot read '{_near(file)}': {error.strerror}") from None
    except ValueError as error:  # of TOML, or of its bytes
        raise Error(f"'{_near(file)}' is damaged: {error}") from None
    for key in ("algorithm", "task.name", "seed", "iterations", "environments", "costs", "limits"):
        if key not in found:
            raise Error(f"'{_near(file)}' is damaged: it has no {key}")
    return found


def _stamp(path: Path) -> tuple[int, int, int] | None:
    # Files are written anew and renamed, never changed.
    try:
        found = os.stat(path)
    except OSError:
        return None
    return (found.st_ino, found.st_mtime_ns, found.st_size)


def load(
    folder: str | os.PathLike[str],
    *,
    allow_command: bool = False,
    settings: dict[str, Any] | None = None,
) -> Run:
    """Opens the run in a folder, whoever trained it: `cgpo.train` or the command line.

    A task that is a program outside is started only with `allow_command=True`, or if what starts it is given again,
    settings={"task.command": "…"}.

    >>> import cgpo
    >>> _ = cgpo.train("function", iterations=3, out="loaded-run", progress=False)
    >>> cgpo.load("loaded-run").configuration["algorithm"]
    'cgpo'
    """
    return Run(folder, allow_command=allow_command, settings=settings)
