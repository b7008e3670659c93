"""What a loss of power could do, which no kill shows: read from the order of a program's calls on its files.

A file's new content, and its new name, are on the disk only once the file, and the folder that has the name, have been
synced; until then they may come in any order, or not at all."""
import os


def resolve(path, folder):
    return os.path.normpath(os.path.join(folder, path))


def find_faults(calls, folder):
    """Sentences about calls, as the supervisor lists them, of a program that ran in `folder`."""
    unsynced = set()  # files with content that is not on the disk
    unnamed = {}  # folder: a name in it that is not
    written = set()
    folders = {resolve(os.path.join("run", name), folder) for name in ("data", "snapshots")}  # there or not
    folders |= {os.path.dirname(resolve(path, folder)) for line in calls for path in line.split(" ")[1:]}
    faults = []
    for line in calls:
        name, *paths = line.split(" ")  # paths in the harness have no spaces
        paths = [resolve(path, folder) for path in paths]
        if not all(path.startswith(str(folder)) for path in paths):
            continue
        if name in ("write", "pwrite64", "writev", "ftruncate"):
            unsynced.add(paths[0])
            written.add(paths[0])
        elif name in ("fsync", "fdatasync"):
            unsynced.discard(paths[0])
            unnamed.pop(paths[0], None)
        elif name.startswith("rename"):
            before, after = paths
            if before in unsynced:
                faults.append(f"{os.path.relpath(after, folder)} gets its name before its content is synced")
            unsynced.discard(before)
            unnamed[os.path.dirname(after)] = after
        elif name.startswith("mkdir"):
            unnamed[os.path.dirname(paths[0])] = paths[0]
        elif name.startswith("unlink") and paths[0] not in written and paths[0] not in folders:
            # What is thrown away was there before; what replaces it must be there for good. A folder is empty by then.
            for waiting in unnamed.values():
                faults.append(f"{os.path.relpath(paths[0], folder)} is removed before the name of "
                              f"{os.path.relpath(waiting, folder)} is synced")
    faults += [f"{os.path.relpath(path, folder)} is never synced" for path in sorted(unsynced)]
    faults += [f"the name of {os.path.relpath(path, folder)} is never synced" for path in sorted(unnamed.values())]
    return faults
