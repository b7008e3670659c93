"""What a run answers, beside the command line and a second forward pass written here."""

import json
import pathlib
import struct
import subprocess
import sys

import numpy as np
import pytest

import cgpo

LENGTH = {"iterations": 6, "environments": 32, "critic.steps": 16}


@pytest.fixture(scope="module")
def cartpole(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "cartpole"
    return cgpo.train("cartpole", settings={**LENGTH, "policy.hidden": [16, 8]}, out=out, progress=False)


@pytest.fixture(scope="module")
def function(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "function"
    return cgpo.train("function", settings=LENGTH, out=out, progress=False)


def said(*words):
    done = subprocess.run([sys.executable, "-m", "cgpo", *words, "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def read_tensors(path):
    raw = path.read_bytes()
    (size,) = struct.unpack("<Q", raw[:8])
    entries = json.loads(raw[8 : 8 + size])
    types = {"F32": np.float32, "F64": np.float64, "I64": np.int64}
    return {
        name: np.frombuffer(raw[8 + size :][slice(*e["data_offsets"])], types[e["dtype"]]).reshape(e["shape"])
        for name, e in entries.items()
        if name != "__metadata__"
    }


def forward(tensors, observations):
    """x = (o - mean)/std, tanh layers, tanh of the last."""
    std = np.sqrt(tensors["normaliser.deviation"] / tensors["normaliser.count"])
    x = (observations - tensors["normaliser.mean"]) / np.where(std == 0.0, 1.0, np.maximum(std, 1e-4))
    layers = [name for name in tensors if name.startswith("policy.layer") and name.endswith("weight")]
    for name in sorted(layers):
        bias = tensors[name.replace("weight", "bias")]
        x = np.tanh(x @ tensors[name].reshape(len(bias), -1).T.astype(float) + bias)
    return x


def test_policy_is_the_network_in_the_checkpoint(cartpole):
    observations = np.random.default_rng(0).normal(size=(100, 4))
    expected = forward(read_tensors(cartpole.folder / "checkpoint.safetensors"), observations)
    actions = cartpole.policy(observations)
    assert actions.dtype == np.float32
    np.testing.assert_allclose(actions, expected, atol=1e-5)
    assert np.ptp(actions) > 1e-3


def test_one_observation_is_a_row(cartpole):
    observations = np.random.default_rng(1).normal(size=(7, 4)).astype(np.float32)
    rows = cartpole.policy(observations)
    assert np.array_equal(np.array([cartpole.policy(o) for o in observations]), rows)
    assert np.array_equal(cartpole.policy(np.asfortranarray(observations)), rows)
    assert np.array_equal(cartpole.policy(np.repeat(observations, 2, axis=0)[::2]), rows)
    assert cartpole.policy(np.empty((0, 4))).shape == (0, 1)


def test_noise_has_the_policy_s_size(cartpole):
    observations = np.zeros((20000, 4))
    mean = cartpole.policy(observations)[0, 0]
    noisy = np.arctanh(cartpole.policy(observations, noise=True, seed=3).astype(float)) - np.arctanh(float(mean))
    sigma = np.exp(read_tensors(cartpole.folder / "checkpoint.safetensors")["policy.log_std"])[0]
    assert noisy.std() == pytest.approx(sigma, rel=0.03)
    assert abs(noisy.mean()) < 5 * sigma / np.sqrt(len(noisy))


def test_noise_follows_seed_and_step(cartpole):
    act = lambda **given: cartpole.policy(np.zeros((4, 4)), noise=True, **given)  # noqa: E731
    assert np.array_equal(act(seed=1, step=2), act(seed=1, step=2))
    assert not np.array_equal(act(seed=1, step=2), act(seed=1, step=3))
    assert not np.array_equal(act(seed=1), act(seed=2))
    assert not np.array_equal(act(), act())


@pytest.mark.parametrize("wrong", [np.zeros(3), np.zeros((2, 5)), np.zeros((1, 2, 4)), 1.0])
def test_observations_of_another_size_are_an_error(cartpole, wrong):
    with pytest.raises(cgpo.Error, match=r"observations are \(4,\) or \(n, 4\)"):
        cartpole.policy(wrong)


@pytest.mark.parametrize("wrong", ["x", {"a": 1}, [["a", "b", "c", "d"]]])
def test_observations_that_are_no_numbers_are_an_error(cartpole, wrong):
    with pytest.raises(cgpo.Error, match="observations are numbers, and"):
        cartpole.policy(wrong)


def test_evaluation_is_that_of_the_command_line(cartpole):
    folder = str(cartpole.folder)
    assert cartpole.evaluate(256) == said("eval", folder, "--episodes", "256")
    assert cartpole.evaluate(64, engine="mujoco", deterministic=True, seed=4, substeps=4, threads=1) == said(
        "eval", folder, "--episodes", "64", "--engine", "mujoco", "--deterministic", "--seed", "4", "--substeps", "4"
    )
    assert cartpole.evaluate(64, explain=True) == said("eval", folder, "--episodes", "64", "--explain")


def test_evaluation_of_a_changed_task(cartpole):
    key = next(s["name"] for s in cgpo.settings("cartpole") if s["name"].startswith("task.") and s["type"] == "number")
    assert cartpole.evaluate(64, settings={key: 2.0})["changed"] == [key]
    with pytest.raises(cgpo.Error, match="iterations"):
        cartpole.evaluate(64, settings={"iterations": 2})


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"episodes": 0}, "episodes must be a whole number from 1"),
        ({"episodes": 2.5}, "episodes must be a whole number from 1"),
        ({"engine": "bullet"}, "own"),
        ({"checkpoint": "first"}, "checkpoint must be last or best"),
        ({"seed": -1}, "seed must be a whole number from 0"),
        ({"substeps": 2000}, "substeps must be a whole number"),
    ],
)
def test_bad_evaluations_are_errors(cartpole, arguments, sentence):
    with pytest.raises(cgpo.Error, match=sentence):
        cartpole.evaluate(**arguments)


def test_log_is_that_of_the_file(function):
    lines = [json.loads(line) for line in (function.folder / "log.jsonl").read_text().splitlines()]
    log = function.log
    for name in set().union(*lines):
        if isinstance(lines[-1][name], list):
            assert log[name].ndim == 2 and log[name].shape[0] == len(lines)
            assert log[name][-1].tolist() == lines[-1][name], name
        else:
            assert log[name].shape == (len(lines),)
            assert log[name][-1] == lines[-1][name], name
    assert log["iteration"].dtype == log["steps"].dtype == np.int64
    assert np.isnan(log["rho"][0]) and "rho" not in lines[0]  # of the update before, which there was not
    assert log["feasible"].tolist() == [bool(c <= b) for c, b in zip(log["costs"][:, 0], log["limits"][:, 0])]
    with pytest.raises(KeyError, match="the log has no 'reward'; it has iteration"):
        log["reward"]


def test_log_of_a_cost_without_limit_and_of_a_learned_model():
    run = cgpo.train("function", "mb-cgpo", limits=[float("inf")], settings=LENGTH, out="r", progress=False)
    assert np.isinf(run.log["limits"]).all()
    assert run.log["world.state_error"].shape == (6,)
    assert run.log["world.signal_errors"].shape == (6, 2)


def test_log_of_a_twin_names_what_was_fitted():
    settings = {"environments": 16, "critic.steps": 4, "twin.first": 0}
    run = cgpo.train("swimmer", iterations=2, settings=settings, out="r", progress=False)
    lines = [json.loads(line)["twin_parameters"] for line in (run.folder / "log.jsonl").read_text().splitlines()]
    assert len(lines[-1]) > 1
    for name in lines[-1]:
        assert run.log[f"twin_parameters.{name}"].tolist() == [line[name] for line in lines]
    assert "twin_parameters" not in run.log


def test_log_as_a_data_frame(function):
    pandas = pytest.importorskip("pandas")
    frame = function.log.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and frame.index.name == "iteration"
    assert frame["gradient_norms.height"].tolist() == function.log["gradient_norms"][:, 1].tolist()
    assert frame["costs.height"].tolist() == function.log["costs"][:, 0].tolist()


def test_damage_to_a_log_is_left_out(function, tmp_path):
    import shutil

    shutil.copytree(function.folder, "copy")
    log = pathlib.Path("copy/log.jsonl")
    lines = log.read_text().splitlines()
    log.write_text("\n".join([*lines[:3], "torn {", *lines[4:]]) + "\n")
    assert cgpo.load("copy").log["iteration"].tolist() == [0, 1, 2, 4, 5]


def test_report_is_a_page_that_a_notebook_shows(function):
    page = function.report("page.html", episodes=64)
    assert pathlib.Path(page).read_text().startswith("<!doctype html>")
    shown = page._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and '"' not in shown.split('srcdoc="')[1].split('" style')[0]
    assert function.report(episodes=64).path == function.folder / "report.html"


def test_lists_are_those_of_the_command_line():
    theirs = said("tasks")["tasks"]
    assert cgpo.tasks()[: len(theirs)] == theirs  # black boxes of this process follow
    assert {"algorithms": cgpo.algorithms()} == said("algorithms")
    assert {"settings": cgpo.settings()} == said("settings")
    assert {"settings": cgpo.settings("ant", algo="cpo", preset="paper")} == said(
        "settings", "ant", "--algo", "cpo", "--preset", "paper"
    )
    assert cgpo.check("cartpole", states=4, window=3, seed=2) == said(
        "check", "cartpole", "--states", "4", "--window", "3", "--seed", "2"
    )


@pytest.mark.parametrize(("name", "sentence"), [("nothing", "there is no run 'nothing'"), (".", "is not a run")])
def test_what_is_no_run_is_not_loaded(name, sentence):
    with pytest.raises(cgpo.Error, match=sentence):
        cgpo.load(name)


def test_a_broken_checkpoint_is_an_error(function):
    import shutil

    shutil.copytree(function.folder, "copy")
    path = pathlib.Path("copy/checkpoint.safetensors")
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(cgpo.Error, match="checkpoint.safetensors"):
        cgpo.load("copy").policy([0.0])


def test_a_run_that_goes_on_is_seen(function):
    import shutil

    shutil.copytree(function.folder, "copy")
    run = cgpo.load("copy")
    before = run.policy([0.3])
    cgpo.train(out="copy", resume=True, iterations=8, progress=False)
    assert run.configuration["iterations"] == 8 and len(run.log["return"]) == 8
    assert not np.array_equal(run.policy([0.3]), before)
