"""Every test runs in an empty folder of its own, so that runs/ and what examples write are nobody else's."""

import os
import signal

import pytest

# Threads of PyTorch that wait for each other awake crawl where cores are not free; it reads this when it is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")


# A shell's background job ignores Ctrl-C, and Python then leaves it so; the tests that press it mean it.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path
