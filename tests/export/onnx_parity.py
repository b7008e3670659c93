#!/usr/bin/env python3
"""onnx_parity.py CGPO [PAGE]: exported policies in onnxruntime and torch, as those read them.

Trains small policies with the program CGPO, exports each to all formats and compares, to 1e-5 of a number's size or of 1:
the examples in the file, which the program's own forward pass computed, and for random observations the header compiled by
`cc`, which tests/export/export_test.cpp compares with that forward pass. With PAGE, docs/guide/export.md, its Python
blocks are run, too. Needs numpy, onnx and onnxruntime; torch is tried if it is there.
"""
import ctypes
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

TOLERANCE = 1e-5
ROWS = 1000

ARM = """
horizon = 10
period = 0.04
observation = ["qpos", "qvel"]
reward = "-sum_squares(qpos)"
[robot]
mjcf = '''<mujoco><worldbody><body><joint name="shoulder" axis="0 1 0"/><geom size="0.1" mass="1"/>
  <body pos="0.5 0 0"><joint name="elbow" axis="0 1 0"/><geom size="0.1" mass="1"/></body></body></worldbody>
  <actuator><position joint="shoulder" kp="5" kv="1" ctrlrange="-0.2 1.1"/><motor joint="elbow"/></actuator></mujoco>'''
action_scale = 0.75
action_offset = [0.5, 0]
"""

# Task and settings: a scale that clips; offsets; no robot; several layers and learned noise; a file.
TRAININGS = [
    ("cartpole",),
    ("quadruped",),
    ("function", "policy.hidden=[5]"),
    ("halfcheetah", "policy.hidden=[33, 7, 20]", "policy.learn_std=true"),
    ("arm.toml", "policy.hidden=[16]"),
]


def error(found, expected):
    found, expected = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    return float(np.max(np.abs(found - expected) / np.maximum(1.0, np.abs(expected)), initial=0.0))


class Header:
    """The exported header, compiled to a library."""

    def __init__(self, path, inputs, outputs):
        library = path.with_name("header.so")
        subprocess.run(["cc", "-std=c99", "-O2", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fPIC", "-shared",
                        "-DCGPO_POLICY_API=", "-x", "c", str(path), "-o", str(library)], check=True)
        self.library, self.inputs, self.outputs = ctypes.CDLL(str(library)), inputs, outputs

    def __call__(self, observations, function="cgpo_policy"):
        rows = np.ascontiguousarray(observations, np.float32)
        acts = np.empty((len(rows), self.outputs), np.float32)
        pointer = ctypes.POINTER(ctypes.c_float)
        for row, act in zip(rows, acts):
            getattr(self.library, function)(row.ctypes.data_as(pointer), act.ctypes.data_as(pointer))
        return acts


def load_module(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check_onnx(folder, header, metadata, observations, errors):
    path = str(folder / "policy.onnx")
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    assert model.ir_version == 8 and [(o.domain, o.version) for o in model.opset_import] == [("", 17)]
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    assert [(i.name, i.shape) for i in session.get_inputs()] == [("obs", ["batch", header.inputs])]
    assert [(o.name, o.shape) for o in session.get_outputs()] == [
        (name, ["batch", header.outputs]) for name in ("action", "policy_action")]
    run = lambda rows: session.run(None, {"obs": np.asarray(rows, np.float32)})
    errors["onnx, examples"] = error(run(metadata["example_observations"])[0], metadata["example_actions"])
    action, policy_action = run(observations)
    errors["onnx"] = error(action, header(observations))
    errors["onnx, policy_action"] = error(policy_action, header(observations, "cgpo_policy_action"))
    errors["onnx, one row"] = error(run(observations[:1])[0], action[:1])
    assert run(observations[:0])[0].shape == (0, header.outputs)
    assert np.isnan(run(np.full((1, header.inputs), np.nan))[0]).all(), "what is not a number stays so"
    said = session.get_modelmeta().custom_metadata_map
    assert said.keys() == metadata.keys()
    for key, value in metadata.items():
        assert (said[key] if isinstance(value, str) else json.loads(said[key])) == value, key


def check_torch(folder, header, metadata, observations, errors):
    try:
        import torch
    except ImportError:
        return
    module = load_module(folder / "policy.py")
    assert module.METADATA == metadata
    module.Policy.check()
    policy = module.Policy()
    with torch.no_grad():
        errors["torch"] = error(policy(torch.from_numpy(observations)), header(observations))
        errors["torch, one row"] = error(policy(torch.from_numpy(observations[0])), header(observations[:1])[0])
        errors["torch, action"] = error(policy.action(torch.from_numpy(observations)),
                                        header(observations, "cgpo_policy_action"))
    assert sum(p.numel() for p in policy.parameters() if p.requires_grad) > 0


def check_training(cgpo, folder, task, *sets):
    folder.mkdir()
    (folder / "arm.toml").write_text(ARM)

    def command(*words):
        done = subprocess.run([cgpo, *words, "--json"], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    command("train", task, "--out", "run", "--set", "iterations=2", "environments=8", "critic.steps=4", *sets)
    for to, file in (("c", "policy.h"), ("torch", "policy.py"), ("onnx", "policy.onnx")):
        metadata = command("export", "run", "--to", to, "--out", file, "--episodes", "16", "--policy-action")
    for key in ("out", "to", "bytes"):
        del metadata[key]
    header = Header(folder / "policy.h", len(metadata["observations"]), len(metadata["actuators"]))
    random = np.random.default_rng(1)
    size = 10.0 ** random.uniform(-2, 1, (ROWS, 1))
    observations = (size * random.standard_normal((ROWS, header.inputs))).astype(np.float32)
    errors = {"c, examples": error(header(metadata["example_observations"]), metadata["example_actions"])}
    check_onnx(folder, header, metadata, observations, errors)
    check_torch(folder, header, metadata, observations, errors)
    print(f"{task} {' '.join(sets)}: " + "; ".join(f"{name} {value:.1e}" for name, value in errors.items()))
    return max(errors.values())


def check_page(folder, page):
    """The page's Python blocks, in a folder with what they read."""
    for title, block in re.findall(r"^```python title=(\S+)\n(.*?)^```", page.read_text(), re.M | re.S):
        (folder / title).write_text(block)
        done = subprocess.run([sys.executable, title], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, f"{title}: {done.stderr}"
        print(f"{title}: {done.stdout.strip()}")


def main(cgpo, page=None):
    cgpo = str(Path(cgpo).resolve())
    with tempfile.TemporaryDirectory() as scratch:
        worst = max(check_training(cgpo, Path(scratch) / str(i), *t) for i, t in enumerate(TRAININGS))
        if page:
            check_page(Path(scratch) / "1", Path(page))
    print(f"largest error {worst:.1e}, allowed {TOLERANCE:.0e}")
    return 0 if worst <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
