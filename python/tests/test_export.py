"""Exported policies as others run them (a C compiler, onnxruntime, PyTorch), beside `run.policy`."""

import ctypes
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

import cgpo

LENGTH = {"iterations": 3, "environments": 32, "critic.steps": 16}

ARM = """<mujoco><worldbody><body><joint name="shoulder" axis="0 1 0"/><geom size="0.1" mass="1"/>
  <body pos="0.5 0 0"><joint name="elbow" axis="0 1 0"/><geom size="0.1" mass="1"/></body></body></worldbody>
  <actuator><position joint="shoulder" kp="5" kv="1" ctrlrange="-0.2 1.1"/><motor joint="elbow"/></actuator></mujoco>"""


def arm():
    """A robot whose scale, offset and range are known here, so that the control can be computed from the action."""
    pathlib.Path("arm.xml").write_text(ARM)

    class Arm(cgpo.Task):
        robot = cgpo.Robot("arm.xml", action_scale=0.75, action_offset=[0.5, 0])
        horizon, period = 10, 0.04

        def observe(self, now):
            return [now.qpos, now.qvel]

        def reward(self, before, action, after):
            return -(after.qpos @ after.qpos)

    return Arm


def arm_control(actions):
    control = np.array([0.5, 0.0]) + 0.75 * actions.astype(float)
    control[:, 0] = control[:, 0].clip(-0.2, 1.1)
    return control


def same(actions):
    return actions


@pytest.fixture(scope="module", params=["function", "arm"])
def case(request, tmp_path_factory):
    """A run, what its control is of its action, and observations to try."""
    folder = tmp_path_factory.mktemp(request.param)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        task, control = (arm(), arm_control) if request.param == "arm" else ("function", same)
        run = cgpo.train(task, settings={**LENGTH, "policy.hidden": [33, 7]}, out=folder / "run", progress=False)
    random = np.random.default_rng(1)
    size = 10.0 ** random.uniform(-2, 1, (500, 1))
    observations = (size * random.standard_normal((500, run.observations))).astype(np.float32)
    assert np.ptp(run.policy(observations)) > 1e-3
    return run, control, observations


def agree(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def compiled(header, inputs, outputs):
    """The functions of a header, by name, on rows."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    library = header.with_suffix(".so").resolve()
    flags = [
        "-std=c99",
        "-O2",
        "-Wall",
        "-Wextra",
        "-pedantic",
        "-Werror",
        "-fPIC",
        "-shared",
        "-DCGPO_POLICY_API=",
        "-DWALK_API=",
    ]
    subprocess.run([compiler, *flags, "-x", "c", str(header), "-o", str(library)], check=True)
    loaded = ctypes.CDLL(str(library))
    pointer = ctypes.POINTER(ctypes.c_float)

    def call(name, observations):
        result = np.empty((len(observations), outputs), np.float32)
        for row, out in zip(np.ascontiguousarray(observations, np.float32), result):
            assert row.shape == (inputs,)
            getattr(loaded, name)(row.ctypes.data_as(pointer), out.ctypes.data_as(pointer))
        return result

    return call


def test_c_acts_as_the_policy_does(case):
    run, control, observations = case
    run.export("c", out="policy.h", episodes=0)
    act = compiled(pathlib.Path("policy.h"), run.observations, run.actions)
    actions = run.policy(observations)
    agree(act("cgpo_policy", observations), control(actions))
    agree(act("cgpo_policy_action", observations), actions)


def test_names_in_c_are_chosen(case):
    run, control, observations = case
    run.export("c", out="walk.h", name="walk", episodes=0)
    walk = compiled(pathlib.Path("walk.h"), run.observations, run.actions)
    agree(walk("walk", observations), control(run.policy(observations)))


def test_onnx_acts_as_the_policy_does(case):
    onnxruntime = pytest.importorskip("onnxruntime")
    run, control, observations = case
    said = run.export("onnx", out="policy.onnx", policy_action=True, episodes=0)
    session = onnxruntime.InferenceSession("policy.onnx", providers=["CPUExecutionProvider"])
    found, actions = session.run(["action", "policy_action"], {"obs": observations})
    agree(actions, run.policy(observations))
    agree(found, control(run.policy(observations)))
    known = session.get_modelmeta().custom_metadata_map
    assert {key: value if isinstance(said[key], str) else json.loads(value) for key, value in known.items()} == {
        key: value for key, value in said.items() if key not in ("out", "to", "bytes")
    }


@pytest.mark.full
def test_torch_acts_as_the_policy_does(case):
    torch = pytest.importorskip("torch")
    run, control, observations = case
    run.export("torch", out="policy.py", episodes=0)
    spec = importlib.util.spec_from_file_location("exported_policy", "policy.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    policy = module.Policy()
    with torch.no_grad():
        agree(policy(torch.from_numpy(observations)).numpy(), control(run.policy(observations)))
        agree(policy.action(torch.from_numpy(observations)).numpy(), run.policy(observations))


@pytest.mark.parametrize("to", ["c", "onnx", "torch"])
def test_export_is_that_of_the_command_line(case, to):
    run, *_ = case
    said = run.export(to, out="one", episodes=64, checkpoint="best")
    words = [
        "export",
        str(run.folder),
        "--to",
        to,
        "--out",
        "two",
        "--episodes",
        "64",
        "--checkpoint",
        "best",
        "--json",
    ]
    done = subprocess.run([sys.executable, "-m", "cgpo", *words], capture_output=True, text=True, check=True)
    assert {**json.loads(done.stdout), "out": "one"} == said
    assert pathlib.Path("one").read_bytes() == pathlib.Path("two").read_bytes()
    assert said["bytes"] == pathlib.Path("one").stat().st_size
    run.export(to, out="one", episodes=64, force=True)
    assert pathlib.Path("one").read_bytes() != pathlib.Path("two").read_bytes()


def test_verdict_is_that_of_an_evaluation(case):
    run, *_ = case
    said = run.export("onnx", out="judged.onnx", episodes=256)
    found = run.evaluate(256)
    assert said["evaluation"]["return"] == found["return"] and said["evaluation"]["costs"] == found["costs"]
    assert run.export("onnx", out="unknown.onnx", episodes=0)["evaluation"] is None


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"to": "onx"}, r"^to must be onnx, c or torch, not 'onx' \(did you mean 'onnx'\?\)"),
        ({"to": 3}, "^to must be onnx, c or torch, not '3'"),
        ({"out": "taken"}, "'taken' is there already; force=True replaces it, out takes another file"),
        ({"out": "."}, "is a folder; out takes a file"),
        ({"out": ""}, "export needs a file to write: out"),
        ({"out": "nowhere/policy.h"}, "there is no folder 'nowhere'"),
        ({"name": "2legs"}, "name .*'2legs'"),
        ({"episodes": -1}, "episodes must be a whole number from 0"),
        ({"checkpoint": "first"}, "checkpoint must be last or best"),
    ],
)
def test_bad_exports_are_errors(case, arguments, sentence):
    pathlib.Path("taken").write_text("mine")
    with pytest.raises(cgpo.Error, match=sentence):
        case[0].export(**{"to": "c", "out": "policy.h", **arguments})
    assert pathlib.Path("taken").read_text() == "mine" and not pathlib.Path("policy.h").exists()
