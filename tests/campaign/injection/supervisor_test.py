#!/usr/bin/env python3
"""The supervisor sees every call, also those that C's streams make inside the library, and does to it what it was told."""
import pathlib
import subprocess
import sys
import tempfile

SUPERVISOR = str(pathlib.Path(sys.argv[1]).resolve())
FILES = """import os
file = os.open('a', os.O_CREAT | os.O_WRONLY)
size = os.write(file, b'12345678')
os.fsync(file)
os.rename('a', 'b')
print(size)
"""
STREAM = """import ctypes
c = ctypes.CDLL(None)
c.fopen.restype = ctypes.c_void_p
file = ctypes.c_void_p(c.fopen(b'a', b'w'))
c.fputs(b'12345678', file)
c.fclose(file)
"""
OTHERS = """import os, threading
if os.fork() == 0: os._exit(0)
os.wait()
thread = threading.Thread(target=lambda: open('from-a-thread', 'w').close())
thread.start(); thread.join()
"""


def run(code, *flags):
    """Exit code, output, error, what is in the folder, the calls listed."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        listing = folder / "calls"
        done = subprocess.run([SUPERVISOR, "--list", str(listing), *flags, "--", sys.executable, "-ISBc", code], cwd=folder,
                              capture_output=True, text=True)
        if done.returncode == 125 and "not permitted" in done.stderr:
            print(done.stderr)
            raise SystemExit(77)
        calls = [line.replace(name + "/", "") for line in listing.read_text().splitlines()]
        listing.unlink()
        files = {path.name: path.read_text() for path in folder.iterdir()}
        return done.returncode, done.stdout.strip(), done.stderr, files, calls


def expect(found, wanted):
    if found != wanted:
        raise SystemExit(f"{found}\nis not\n{wanted}")


def main():
    changes = ["--kinds", "changes"]
    code, out, _, files, calls = run(FILES, *changes)
    expect((code, out, files, calls), (0, "8", {"b": "12345678"}, ["openat a", "write a", "fsync a", "rename a b"]))
    for at, left in enumerate([{}, {"a": ""}, {"a": "12345678"}, {"a": "12345678"}], 1):
        code, _, _, files, _ = run(FILES, *changes, "--at", str(at), "--do", "kill")
        expect((code, files), (-9, left))
    code, _, _, files, _ = run(FILES, *changes, "--at", "2", "--do", "half")
    expect((code, files), (-9, {"a": "1234"}))
    code, out, _, files, _ = run(FILES, *changes, "--at", "2", "--do", "short")
    expect((code, out, files), (0, "4", {"b": "1234"}))
    code, _, error, files, _ = run(FILES, *changes, "--at", "2", "--do", "fail=ENOSPC")
    expect((code, "No space left" in error, files), (1, True, {"a": ""}))
    code, _, _, files, calls = run(STREAM, *changes)
    expect((code, files, calls), (0, {"a": "12345678"}, ["openat a", "write a"]))
    code, _, _, _, calls = run(OTHERS, "--kinds", "processes,threads,changes")
    kinds = [call[:5] for call in calls]
    expect((code, kinds[:2], kinds[-1], "openat from-a-thread" in calls), (0, ["clone", "clone"], "opena", True))
    code, _, error, _, _ = run(OTHERS, "--kinds", "processes", "--at", "1", "--do", "fail=EAGAIN")
    expect((code, "Resource temporarily unavailable" in error), (1, True))
    code, _, error, _, _ = run(OTHERS, "--kinds", "threads", "--at", "1", "--do", "fail=EAGAIN")
    expect((code, "can't start new thread" in error), (1, True))
    code, *_ = run(FILES, *changes, "--at", "3", "--do", "signal=15")
    expect(code, -15)
    print("every call is seen")


if __name__ == "__main__":
    main()
