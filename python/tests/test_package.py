"""The package as it is installed: what it needs, what it takes, how it fails; and its command."""

import importlib.metadata
import importlib.util
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

import cgpo

PACKAGE = pathlib.Path(cgpo.__file__).parent


def python(code, check=True, **variables):
    environment = {**os.environ, **variables}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert not check or done.returncode == 0, done.stderr
    return done


def command(*words, **options):
    return subprocess.run([sys.executable, "-m", "cgpo", *words], capture_output=True, text=True, **options)


def test_command_has_the_version_of_the_package():
    assert command("--version").stdout.strip() == f"cgpo {cgpo.__version__}"


def test_command_is_installed():
    if not (PACKAGE.parent / f"cgpo-{cgpo.__version__}.dist-info").exists():
        pytest.skip("the package is that of the build")
    program = pathlib.Path(sys.executable).parent / "cgpo"
    assert subprocess.run([program, "--version"], capture_output=True, text=True).stdout.startswith("cgpo ")
    assert importlib.metadata.version("cgpo") == cgpo.__version__


def test_command_refuses_with_a_sentence():
    done = command("train", "halfchetah")
    assert done.returncode == 2
    assert done.stderr.startswith("cgpo: unknown task 'halfchetah' (did you mean 'halfcheetah'?)")


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_command_ends_after_the_iteration(stop):
    words = [sys.executable, "-m", "cgpo", "train", "function", "--set", "iterations=100000", "--out", "r"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        log = pathlib.Path("r/log.jsonl")
        while not (log.exists() and log.stat().st_size) and program.poll() is None:
            time.sleep(0.01)
        program.send_signal(stop)
        said, _ = program.communicate(timeout=60)
    assert program.returncode == 128 + stop
    assert "stopped; to go on: cgpo train function --resume --out r" in said
    done = len(log.read_text().splitlines())
    assert cgpo.train(out="r", resume=True, iterations=done + 1, progress=False).log["iteration"][-1] == done


def test_command_starts_itself_again():
    """A comparison trains in processes of its own, which are this Python with this package."""
    words = ["compare", "function", "--algos", "cgpo,ppo-lag", "--seeds", "1", "--out", "c", "--json"]
    done = command(*words, "--set", "iterations=2", "environments=16", "critic.steps=8")
    assert done.returncode == 0, done.stderr
    assert [a["algorithm"] for a in json.loads(done.stdout)["algorithms"]] == ["cgpo", "ppo-lag"]


def test_a_folder_of_that_name_is_not_taken_for_the_package():
    pathlib.Path("cgpo").mkdir()
    pathlib.Path("cgpo/__init__.py").write_text("raise SystemExit('the wrong one')")
    words = ["-P", "-m", "cgpo", "compare", "function", "--algos", "cgpo", "--seeds", "1", "--out", "c"]
    done = subprocess.run(
        [sys.executable, *words, "--set", "iterations=1", "environments=16", "critic.steps=8"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_a_cpu_without_avx_is_an_error_with_a_sentence():
    done = python("import cgpo", check=False, CGPO_ISA="none")
    assert done.returncode == 1
    assert done.stderr.strip().endswith("ImportError: cgpo: this CPU has no AVX, which MuJoCo's library needs")


def test_a_missing_mujoco_is_an_error_with_a_sentence():
    code = """
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "mujoco" else find(name, *rest)
import cgpo
"""
    done = python(code, check=False)
    assert done.stderr.strip().endswith("cgpo needs MuJoCo 4.0.0: pip install mujoco-core==4.0.0")


def test_another_mujoco_in_the_same_folder_is_warned_of(tmp_path):
    """The package `mujoco` and mujoco-core write to one folder; whose version is another is broken from then on."""
    (folder,) = importlib.util.find_spec("mujoco").submodule_search_locations
    (tmp_path / "mujoco").symlink_to(folder)
    (tmp_path / "mujoco_core-9.0.0.dist-info").mkdir()
    (tmp_path / "mujoco-4.0.0.dist-info").mkdir()
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    assert python("import cgpo", PYTHONPATH=path).stderr == ""
    (tmp_path / "mujoco-3.2.1.dist-info").mkdir()
    said = python("import cgpo", PYTHONPATH=path).stderr
    assert "mujoco 3.2.1 and mujoco-core 4.0.0 share the folder" in said and "pip install mujoco==4.0.0" in said


def test_baseline_code_makes_the_same_bits():
    """Kernels are chosen at run time: without AVX2 and FMA the interpreter runs them."""
    train = "import cgpo; cgpo.train('function', iterations=2, environments=16, out={!r}, progress=False)"
    python(train.format("best"))
    python(train.format("plain"), CGPO_ISA="baseline")
    best, plain = (pathlib.Path(run, "log.jsonl").read_text() for run in ("best", "plain"))
    assert re.sub(r'"seconds":[^,]*', "", best) == re.sub(r'"seconds":[^,]*', "", plain)


def test_import_is_quick_and_brings_nothing_optional():
    """A tenth of what is allowed is spent on the package itself; NumPy, which it needs, is the rest."""
    code = """
import sys, time
import numpy
begin = time.perf_counter()
import cgpo
print(time.perf_counter() - begin)
print(sorted(set(sys.modules) & {"torch", "gymnasium", "pandas", "tensorboard", "IPython", "mujoco"}))
"""
    best = min((python(code).stdout.splitlines() for _ in range(3)), key=lambda lines: float(lines[0]))
    assert float(best[0]) < 0.3 and best[1] == "[]"


def test_the_module_shows_nothing_but_its_start():
    """Names of ours, or of the libraries in it, must not meet those of other modules."""
    library = (PACKAGE / "_core.abi3.so").read_bytes()
    assert library[:4] == b"\x7fELF"
    listed = subprocess.run(["nm", "-D", "--defined-only", PACKAGE / "_core.abi3.so"], capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("nm is not installed")
    names = [line.split()[-1] for line in listed.stdout.splitlines()]
    assert "PyInit__core" in names
    assert not [name for name in names if re.match(r"_ZT?[NKIVS]*(4cgpo|6asmjit|3fmt)", name)]


def test_is_typed():
    assert (PACKAGE / "py.typed").exists()
    stubs = (PACKAGE / "_core.pyi").read_text()
    compile(stubs, "_core.pyi", "exec")
    assert "class Policy:" in stubs and "def train(" in stubs
