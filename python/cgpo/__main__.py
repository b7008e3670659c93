"""The command `cgpo`, and `python -m cgpo`."""

import signal
import sys


def main() -> None:
    """Runs the command line with the program's own words, and ends with its exit code."""
    # As a program has them that is no Python: the command line asks for signals itself while it trains.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    from cgpo import _core

    # -P: a folder cgpo where it is started is somebody else's.
    sys.exit(_core.run_command_line(["cgpo", *sys.argv[1:]], [sys.executable, "-P", "-m", "cgpo"]))


if __name__ == "__main__":
    main()
