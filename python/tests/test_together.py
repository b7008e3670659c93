"""Signals, threads and forks, while the module computes."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import cgpo
from cgpo import _core
from some_tasks import Pole


@pytest.fixture(scope="module")
def ant(tmp_path_factory):
    settings = {"environments": 16, "critic.steps": 4, "window": 2}
    return cgpo.train("ant", iterations=1, out=tmp_path_factory.mktemp("ant") / "run", settings=settings, progress=False)


LONG = 1_000_000  # episodes: minutes, if nothing ends it


@pytest.mark.parametrize(
    "compute",
    [
        lambda run: run.evaluate(LONG),
        lambda run: run.report("page.html", episodes=LONG),
        lambda run: run.export("c", "policy.h", episodes=LONG),
        lambda run: cgpo.check("ant", states=LONG),
    ],
    ids=["evaluate", "report", "export", "check"],
)
def test_ctrl_c_ends_it_soon(ant, compute):
    before = ant.evaluate(32, seed=1)
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        compute(ant)
    assert time.monotonic() - begin < 30
    timer.join()
    assert os.listdir() == []
    assert ant.evaluate(32, seed=1) == before


def test_a_handler_that_does_not_raise_ends_nothing(ant):
    heard = []
    before = signal.signal(signal.SIGUSR1, lambda number, _: heard.append(number))
    alone = ant.evaluate(3000, seed=1)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1))
    timer.start()
    assert ant.evaluate(3000, seed=1) == alone
    timer.join()
    time.sleep(0)
    signal.signal(signal.SIGUSR1, before)
    assert heard == [signal.SIGUSR1]


def in_a_fork(body):
    """What the child's body returns, an array; a child that hangs is ended by its alarm."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(60)
            os.write(write, body().tobytes())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        heard = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    return heard


@pytest.mark.filterwarnings("ignore:.*fork")
def test_a_forked_child_steps_the_environments_of_its_parent():
    environments = cgpo.make_vec("ant", 100, threads=3)
    environments.reset(seed=1)
    actions = np.full((100, 8), 0.3, np.float32)
    heard = in_a_fork(lambda: environments.step(actions)[0])
    assert heard == environments.step(actions)[0].tobytes()


@pytest.mark.filterwarnings("ignore:.*fork")
def test_a_forked_child_steps_the_simulator_of_its_parent():
    """That of cgpo.torch, without PyTorch."""
    steps = _core.FloatSteps("ant", [], 3)
    state = np.empty((steps.states, 100), np.float32)
    steps.start(1, 0, state)

    def observe():
        seen = np.empty((steps.observations, 100), np.float32)
        steps.observe(state, seen)
        return seen

    first = observe().tobytes()
    assert in_a_fork(observe) == first == observe().tobytes()


def test_threads_take_turns_at_the_same_environments():
    def after(threads):
        environments = cgpo.make_vec("ant", 70, threads=2)
        environments.reset(seed=1)
        failed = []

        def work():
            try:
                for _ in range(60 // threads):
                    environments.step(np.full((70, 8), 0.2))
                    assert np.isfinite(environments.states).all()
            except BaseException as error:
                failed.append(error)

        own = [threading.Thread(target=work) for _ in range(threads)]
        for thread in own:
            thread.start()
        for thread in own:
            thread.join()
        assert not failed
        return environments.states

    np.testing.assert_array_equal(after(3), after(1))


def test_threads_may_share_a_task(monkeypatch):
    monkeypatch.setattr(Pole, "options", {"gravity": 9.81})
    task = Pole()
    expected, heard = task.definition(), []
    assert "gravity" in expected.split("[step]")[1]

    def work():
        for _ in range(20):
            try:
                heard.append(task.definition())
                heard.append(task.gravity)
            except BaseException as error:
                heard.append(repr(error))

    own = [threading.Thread(target=work) for _ in range(4)]
    for thread in own:
        thread.start()
    for thread in own:
        thread.join()
    assert set(heard) == {expected, 9.81} and vars(task) == {}
