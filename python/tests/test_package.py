"""The package as it is installed: what it is called, what it needs, how it fails."""

import subprocess
import sys

import cgpo


def test_has_the_version_of_the_program():
    words = [sys.executable, "-m", "cgpo", "--version"]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip() == f"cgpo {cgpo.__version__}"
