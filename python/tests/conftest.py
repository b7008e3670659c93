"""Every test runs in an empty folder of its own, so that runs/ and what examples write are nobody else's."""

import pytest


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path
