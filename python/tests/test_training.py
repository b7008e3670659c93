"""cgpo.train beside the command line, which shares the engine but none of the module; and how a training ends."""

import filecmp
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import cgpo

LENGTH = {"iterations": 6, "environments": 32, "critic.steps": 16}


def command(*words, check=True):
    """The program of the package; its output."""
    done = subprocess.run([sys.executable, "-m", "cgpo", *words], capture_output=True, text=True)
    assert not check or done.returncode == 0, done.stderr
    return done


def sets(settings):
    return ["--set", *(f"{key}={json.dumps(value)}" for key, value in settings.items())]


def lines_without_clock(folder):
    lines = [json.loads(line) for line in (pathlib.Path(folder) / "log.jsonl").read_text().splitlines()]
    for line in lines:
        del line["seconds"]
    return lines


def same_run(a, b):
    """Logs but for their clock, and the bytes of checkpoints."""
    for name in ("checkpoint.safetensors", "snapshots/000000.safetensors"):
        assert filecmp.cmp(f"{a}/{name}", f"{b}/{name}", shallow=False), name
    assert lines_without_clock(a) == lines_without_clock(b)


@pytest.mark.parametrize(
    ("task", "algo", "seed", "settings"),
    [
        ("function", "cgpo", 3, {"radius.test": "fixed", "limits": [7.5]}),
        ("function", "ppo-lag", 0, {}),
        ("cartpole", "cgpo", 1, {"policy.hidden": [16, 16]}),
    ],
)
def test_makes_the_bits_of_the_command_line(task, algo, seed, settings):
    settings = {**LENGTH, **settings}
    command("train", task, "--algo", algo, "--seed", str(seed), "--out", "theirs", "--threads", "1", *sets(settings))
    run = cgpo.train(task, algo, seed=seed, out="ours", threads=2, settings=settings, progress=False)
    same_run("ours", "theirs")
    assert run.configuration == cgpo.load("theirs").configuration


def test_takes_settings_in_every_form():
    dotted = {**LENGTH, "policy.hidden": [8, 8], "radius.lower": 2e-4}
    cgpo.train("function", settings=dotted, out="dotted", progress=False)
    nested = {
        "policy": {"hidden": (np.int64(8), 8)},
        "radius": {"lower": np.float64(2e-4)},
        "critic": {"steps": np.int32(16)},
    }
    cgpo.train("function", settings=nested, out="nested", iterations=6, environments=np.int16(32), progress=False)
    same_run("dotted", "nested")


def test_the_folder_is_that_of_the_command_line():
    run = cgpo.train("function", seed=2, settings=LENGTH, progress=False)
    assert run.folder == pathlib.Path("runs/function-cgpo-s2").resolve()


def test_callback_hears_what_the_log_says():
    heard = []
    run = cgpo.train("function", settings=LENGTH, callback=[heard.append, lambda line: None], out="r", progress=False)
    assert heard == [json.loads(line) for line in (run.folder / "log.jsonl").read_text().splitlines()]


def test_error_of_a_callback_goes_on_after_a_checkpoint():
    cgpo.train("function", settings=LENGTH, out="whole", progress=False)

    def fail(line):
        if line["iteration"] == 2:
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        cgpo.train("function", settings=LENGTH, out="cut", callback=fail, progress=False)
    assert len(lines_without_clock("cut")) == 3
    cgpo.train("function", out="cut", resume=True, progress=False)  # and nobody holds the folder
    same_run("cut", "whole")


def test_stop_iteration_ends_it_and_returns_the_run():
    def enough(line):
        if line["iteration"] == 1:
            raise StopIteration

    run = cgpo.train("function", settings=LENGTH, out="r", callback=enough, progress=False)
    assert len(run.log["return"]) == 2


def test_ctrl_c_ends_it_after_the_iteration_and_it_goes_on():
    cgpo.train("function", settings=LENGTH, out="whole", progress=False)

    def press(line):
        if line["iteration"] == 2:
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(1000):  # Python looks at signals between its own instructions
                pass

    with pytest.raises(KeyboardInterrupt):
        cgpo.train("function", settings=LENGTH, out="cut", callback=press, progress=False)
    assert len(lines_without_clock("cut")) == 3
    cgpo.train("function", out="cut", resume=True, progress=False)
    same_run("cut", "whole")


def test_ctrl_c_while_it_computes():
    """No callback: the signal comes while the GIL is free, and Python hears of it between two iterations."""
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt, match=r"stopped after \d+ iterations; .*out='long', resume=True") as pressed:
        cgpo.train("function", iterations=100000, out="long", progress=False)
    timer.join()
    done = len(lines_without_clock("long"))
    assert f"after {done} iterations" in str(pressed.value)
    run = cgpo.train(out="long", resume=True, iterations=done + 2, progress=False)
    assert len(run.log["iteration"]) == done + 2


def test_the_gil_is_free_while_it_computes():
    """Another thread counts all the while; held by the training, it would stand still for whole iterations."""
    ticks, done = [], threading.Event()

    def count():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    spans = []
    try:
        begin = time.monotonic()
        cgpo.train(
            "function", iterations=3, environments=2048, settings={"critic.steps": 16}, out="r", threads=1, progress=False,
            callback=lambda line: spans.append(time.monotonic()),
        )  # fmt: skip
    finally:
        done.set()
        counter.join()
    longest = max(b - a for a, b in zip([begin, *spans], spans))
    inside = [t for t in ticks if begin <= t <= spans[-1]]
    pause = max(b - a for a, b in zip(inside, inside[1:]))
    assert longest > 0.1 and pause < 0.5 * longest


def test_two_runs_at_once_make_their_bits():
    for seed in (0, 1):
        cgpo.train("function", seed=seed, settings=LENGTH, out=f"alone{seed}", progress=False)
    threads = [
        threading.Thread(
            target=cgpo.train,
            args=("function",),
            kwargs={"seed": seed, "settings": LENGTH, "out": f"beside{seed}", "progress": False},
        )
        for seed in (0, 1)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed in (0, 1):
        same_run(f"alone{seed}", f"beside{seed}")


def test_begins_from_another_run():
    cgpo.train("function", settings=LENGTH, out="first", progress=False)
    with pytest.warns(UserWarning, match="keeps its noise"):
        run = cgpo.train("function", settings=LENGTH, init="first", out="second", progress=False)
    assert run.configuration["init"] == "first"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"task": "halfchetah"}, "did you mean 'halfcheetah'"),
        ({"task": "function", "algo": "cpgo"}, "did you mean"),
        ({"task": "function", "iteration": 3}, "did you mean 'iterations'"),
        ({"task": "function", "settings": {"radius.lower": -1.0}}, "radius.lower must be a number above 0"),
        ({"task": "function", "settings": {"radius.lower": "x"}}, "radius.lower must be a number"),
        ({"task": "function", "settings": {"iterations": 2.5}}, "iterations must be a whole number"),
        ({"task": "function", "settings": {"iterations": 2**70}}, "iterations is too large a number"),
        ({"task": "function", "settings": {"radius.lower": object()}}, "must be a number, a text"),
        ({"task": "function", "seed": -1}, "seed must be a whole number from 0"),
        ({"task": "function", "seed": 1.5}, "seed must be a whole number from 0"),
        ({"task": "function", "threads": -1}, "threads must be a whole number from 0 to 1024"),
        ({"task": "missing.toml"}, "missing.toml"),
        ({"resume": True}, "resume=True needs the run's folder in out"),
        ({"task": "function", "out": "taken"}, "resume=True continues it, force=True replaces it"),
        ({"task": "function", "out": "taken", "resume": True, "seed": 5}, "seed"),
        ({"task": "external"}, "task.command"),
    ],
)
def test_bad_input_is_an_error_with_a_sentence(arguments, sentence):
    if arguments.get("out") == "taken":
        cgpo.train("function", settings=LENGTH, out="taken", progress=False)
    before = sorted(pathlib.Path().rglob("*"))
    with pytest.raises(cgpo.Error, match=sentence) as caught:
        cgpo.train(**arguments, progress=False)
    assert isinstance(caught.value, ValueError)
    assert "--" not in str(caught.value)
    assert [p for p in sorted(pathlib.Path().rglob("*")) if p.name != ".lock"] == [
        p for p in before if p.name != ".lock"
    ]


def test_force_replaces():
    cgpo.train("function", settings=LENGTH, seed=1, out="r", progress=False)
    assert (
        cgpo.train("function", settings=LENGTH, seed=2, out="r", force=True, progress=False).configuration["seed"] == 2
    )


def test_the_module_itself_prints_nothing(capfd):
    cgpo.train("function", settings=LENGTH, out="r", progress=False).evaluate(64)
    assert capfd.readouterr() == ("", "")


PENDULUM = """
name = "pendulum"
horizon = 20
period = 0.05
observation = ["qpos", "qvel"]
reward = "-sum_squares(qpos)"

[[costs]]
name = "effort"
expression = "sum_squares(action)"
limit = 5.0

[robot]
mjcf = '''<mujoco>
  <option timestep="0.01">FLAG</option>
  <worldbody>
    <body name="bob"><joint name="hinge" axis="0 1 0" damping="0.1"/><geom type="sphere" size="0.1" pos="0 0 -0.5"/></body>
  </worldbody>
  <actuator><motor joint="hinge" ctrlrange="-1 1"/></actuator>
</mujoco>'''
"""


def test_trains_a_task_file():
    path = pathlib.Path("pendulum.toml")
    path.write_text(PENDULUM.replace("FLAG", ""))
    run = cgpo.train(path, settings=LENGTH, out="ours", progress=False)
    command("train", "pendulum.toml", "--out", "theirs", *sets(LENGTH))
    same_run("ours", "theirs")
    assert run.limits == {"effort": 5.0} and run.observations == 2
    path.unlink()  # the run has its own copy
    assert cgpo.load("ours").evaluate(16)["task"] == "pendulum"


def test_what_the_engine_does_not_know_is_left_out_only_when_told():
    pathlib.Path("pendulum.toml").write_text(PENDULUM.replace("FLAG", '<flag override="enable"/>'))
    with pytest.raises(cgpo.Error, match="'override'.*; allow_unsupported=True trains without"):
        cgpo.train("pendulum.toml", settings=LENGTH, out="r", progress=False)
    with pytest.warns(UserWarning, match="left out of the robot: option flag 'override'"):
        cgpo.train("pendulum.toml", settings=LENGTH, out="r", allow_unsupported=True, progress=False)


def test_a_simulator_outside_needs_consent_again():
    """Its command is the user's own word in `train`; a folder alone may not start it."""
    program = pathlib.Path(__file__).resolve().parents[2] / "examples/external/gymnasium_task.py"
    if not program.exists():
        pytest.skip("the examples are not here")
    settings = {**LENGTH, "environments": 4, "task.command": f"{sys.executable} {program} puck"}
    run = cgpo.train("external", "mb-cgpo", settings=settings, iterations=1, out="r", progress=False)
    assert run.evaluate(4)["episodes"] == 4
    with pytest.raises(cgpo.Error, match="would start a program"):
        cgpo.load("r").evaluate(4)
    assert cgpo.load("r", allow_command=True).evaluate(4)["episodes"] == 4
