"""The two steps of foreign_robots.sh that are no shell: taking MJCF files out of wheels, and making tables of what
`cgpo model --json` says of them."""
import collections
import csv
import json
import math
import pathlib
import shutil
import sys
import zipfile

# What MJCF files are and refer to: meshes, skins, height fields, pictures.
WANTED = {".xml", ".mjcf", ".stl", ".obj", ".msh", ".skn", ".hfield", ".bin", ".png", ".jpg", ".jpeg"}
COMMON = ["gymnasium", "dm_control", "playground", "brax", "safety_gymnasium", "mjlab"]
TOLERANCE = 1e-10


def unpack(wheels, folder):
    for wheel in wheels.glob("*.whl"):
        package = folder / wheel.name.split("-")[0]
        shutil.rmtree(package, ignore_errors=True)
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                file = pathlib.PurePosixPath(name)
                if ".." in file.parts or file.is_absolute() or file.suffix.lower() not in WANTED:
                    continue
                target = package / pathlib.Path(*file.parts[1:])
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(name))


def package_of(file):
    return pathlib.PurePosixPath(file["path"]).parts[0]


def error_of(file):
    """The largest; NaN is written as null."""
    errors = file["max_error_supported"].values()
    return math.inf if None in errors else max(errors)


def stands_alone(file):
    """Whether MuJoCo compiles it, by itself, and something in it can move. What never ended may be so."""
    return file["status"] == "failed" or file["compiled"] and file["status"] != "no joints"


class Count:
    def __init__(self, files):
        self.compiled = sum(file["compiled"] for file in files)
        self.files = [file for file in files if stands_alone(file)]
        self.read = [file for file in self.files if "nq" in file]
        self.accepted = [file for file in self.read if file["accepted"]]
        self.agree = [file for file in self.read if error_of(file) <= TOLERANCE]
        self.hold = [file for file in self.accepted if file.get("trial", {}).get("diverged") == 0]
        self.kinds = collections.Counter(kind for file in self.read for kind in file["left_out"])

    def share(self, part):
        return f"{len(part)} ({100 * len(part) // max(1, len(self.files))} %)"


def markdown(rows):
    rows = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "".join(f"| {' | '.join(str(cell) for cell in row)} |\n" for row in rows)


def tables(files, packages):
    versions = dict(package.split("==") for package in packages)
    by_package = {package: Count([f for f in files if package_of(f) == package]) for package in versions}
    common = Count([f for f in files if package_of(f) in COMMON])
    everything = Count(files)
    rows = [["package", "compiled by MuJoCo", "with joints", "read", "accepted whole", f"agree to {TOLERANCE:.0e}",
             "accepted and hold", "left out most"]]

    def add(name, count):
        most = "; ".join(f"{kind}: {n}" for kind, n in count.kinds.most_common(2))
        rows.append([name, count.compiled, len(count.files), count.share(count.read), count.share(count.accepted),
                     f"{len(count.agree)} of {len(count.read)}", f"{len(count.hold)} of {len(count.accepted)}", most])

    for package, version in versions.items():
        add(f"{package} {version}", by_package[package])
    add("**the first six**", common)
    add("**all ten**", everything)
    left = [["left out", "files", "of these, nothing else"]]
    for kind, n in everything.kinds.most_common(20):
        left.append([kind, n, sum(set(file["left_out"]) == {kind} for file in everything.read)])
    text = markdown(rows) + "\n" + markdown(left)
    wrong = [file for file in everything.read if error_of(file) > TOLERANCE]
    for file in wrong:
        text += f"\n`{file['path']}` is not MuJoCo's: its error is {error_of(file):.1e}.\n"
    gone = [file for file in everything.accepted if file.get("trial", {}).get("diverged", 0) > 0]
    if gone:
        text += "\n" + markdown([["diverges", "episodes", "of MuJoCo's own", "from step", "at", "none with steps cut into"]] + [
            [file["path"], f"{file['trial']['diverged']} of {file['trial']['episodes']}",
             f"{file['trial']['mujoco_diverged']} of {file['trial']['episodes']}", file["trial"]["first_step"],
             file["trial"]["at"], file["trial"]["finer"] or "(not 2, 4 or 8)"] for file in gone])
    for file in everything.files:
        if "nq" not in file:
            text += f"\n`{file['path']}` was not read: {file['error']}\n"
    return text, everything, bool(wrong)


def write_rows(path, read):
    with open(path, "w", newline="") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(["file", "status", "q", "v", "controls", "contacts", "pairs", "error", "operations", "diverged",
                        "mujoco_diverged", "left_out"])
        for file in read:
            trial = file.get("trial", {})
            table.writerow([file["path"], file["status"], file["nq"], file["nv"], file["nu"], file["contacts"],
                            file["pairs"],
                            f"{error_of(file):.0e}", file.get("operations", ""), trial.get("diverged", ""),
                            trial.get("mujoco_diverged", ""),
                            "; ".join(f"{kind} {n}" for kind, n in file["left_out"].items())])


def write_page(page, text):
    begin, end = "<!-- begin of the table -->\n", "<!-- end of the table -->"
    head, rest = page.read_text().split(begin)
    page.write_text(head + begin + text + end + rest.split(end)[1])


def main():
    if sys.argv[1] == "unpack":
        return unpack(*map(pathlib.Path, sys.argv[2:]))
    files = json.loads(pathlib.Path(sys.argv[2]).read_text())["files"]
    for file in files:
        file["path"] = str(pathlib.PurePosixPath(file["path"]))  # without ./
    text, everything, wrong = tables(files, pathlib.Path(sys.argv[3]).read_text().split())
    print(text, end="")
    if len(sys.argv) > 4:
        root = pathlib.Path(sys.argv[4])
        write_page(root / "docs/physics/foreign-robots.md", text)
        write_rows(root / "docs/results/generated/foreign-robots.csv", everything.read)
    return 1 if wrong else 0


sys.exit(main())
