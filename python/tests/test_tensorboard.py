"""TensorBoard reads back what the callback wrote."""

import pytest

import cgpo

event_accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")


def test_tensorboard_reads_the_log():
    with cgpo.callbacks.TensorBoard("board") as board:
        run = cgpo.train("function", iterations=3, environments=16, out="r", callback=board, progress=False)
    events = event_accumulator.EventAccumulator("board")
    events.Reload()
    scalars = events.Scalars("return")
    assert [s.step for s in scalars] == run.log["steps"].tolist()
    assert [s.value for s in scalars] == pytest.approx(run.log["return"].tolist())
    assert [s.value for s in events.Scalars("costs/0")] == pytest.approx(run.log["costs"][:, 0].tolist())
