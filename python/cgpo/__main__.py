"""The command `cgpo`, and `python -m cgpo`."""

import signal
import sys


def main():
    """Runs the command line with the program's own words, and ends with its exit code."""
    # As a program has them that is no Python: the command line asks for signals itself while it trains.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    from cgpo import _core

    sys.exit(_core.run_command_line(["cgpo", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
