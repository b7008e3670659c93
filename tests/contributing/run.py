"""Does what CONTRIBUTING.md says, so that its examples cannot rot. Needs Python 3, git, CMake and Ninja.

    python3 tests/contributing/run.py FOLDER [-D…]

Copies the repository to FOLDER/tree, applies every ```diff block of the page there in the page's order, builds the program
and the tests that the ```sh blocks name in FOLDER/build, and runs these blocks, each section's in a folder of its own. What
follows FOLDER goes to CMake. Blocks without a language are not run; targets and presets that they name must exist."""
import filecmp
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PAGE = "CONTRIBUTING.md"
EXAMPLES = ("task", "operation", "algorithm", "command", "key", "figure")
# Cheap to build: nobody waits for what these programs compute. Machine code stays, for the example of an operation has some.
CHEAP = ("-GNinja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O0", "-DCGPO_BENCHMARKS=OFF",
         "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=12")


class Fault(Exception):
    pass


class Block:
    def __init__(self, section, language, line):
        self.section, self.language, self.line, self.lines = section, language, line, []

    @property
    def text(self):
        return "".join(line + "\n" for line in self.lines)

    def __str__(self):
        return f"{PAGE}:{self.line} ({self.section})"


def read_blocks(page):
    """Every fenced block, with the heading of the second level that it stands under."""
    blocks, open_block, section = [], None, ""
    for number, line in enumerate(page.splitlines(), 1):
        if open_block is not None:
            if line == "```":
                open_block = None
            else:
                open_block.lines.append(line)
        elif line.startswith("```"):
            open_block = Block(section, line[3:], number)
            blocks.append(open_block)
        elif line.startswith("## "):
            section = line[3:].strip()
    if open_block is not None:
        raise Fault(f"{open_block}: the block does not end")
    return blocks


def check_page(blocks):
    """Every example has both, what is changed and what shows that it works; all else that can be run exists."""
    for name in EXAMPLES:
        languages = {block.language for block in blocks if block.section.lower().endswith(" " + name)}
        if not {"diff", "sh"} <= languages:
            raise Fault(f"{PAGE}: there is no example of a {name} with ```diff and ```sh")
    makefile = (SOURCE / "Makefile").read_text()
    presets = {preset["name"] for preset in json.loads((SOURCE / "CMakePresets.json").read_text())["configurePresets"]}
    for block in blocks:
        if block.language not in ("", "diff", "sh"):
            raise Fault(f"{block}: '{block.language}' is neither diff nor sh")
        if block.language:
            continue
        for target in re.findall(r"^make ([\w-]+)", block.text, re.M):
            if not re.search(rf"^{target}:", makefile, re.M):
                raise Fault(f"{block}: there is no target {target}")
        for preset in re.findall(r"--preset ([\w-]+)", block.text):
            if preset not in presets:
                raise Fault(f"{block}: there is no preset {preset}")


def copy_repository(to):
    """What git knows or would add, as it stands in the working tree."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=SOURCE, check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (SOURCE / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / name, to / name)


def apply_diff(block, tree):
    # Without the ceiling, git would take the tree for a part of the repository around it, and skip all files in silence.
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tree.parent)}
    result = subprocess.run(["git", "apply", "--whitespace=nowarn", "--verbose"], cwd=tree, env=environment, input=block.text,
                            text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode != 0 or "Applied patch" not in result.stdout or "Skipped patch" in result.stdout:
        raise Fault(f"{block}: the diff does not apply\n{result.stdout}")


def files_below(folder):
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}


def update(tree, fresh):
    """Makes the tree like the fresh one; files that are the same keep their time, so that a second run compiles little."""
    tree.mkdir(exist_ok=True)
    wanted = files_below(fresh)
    for name in files_below(tree) - wanted:
        (tree / name).unlink()
    for name in wanted:
        if not (tree / name).exists() or not filecmp.cmp(fresh / name, tree / name, shallow=False):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(fresh / name, tree / name)


def run(what, command, **more):
    start = time.monotonic()
    print(f"== {what}", flush=True)
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                            stdin=subprocess.DEVNULL, **more)
    if result.returncode != 0:
        raise Fault(f"{what}: exit code {result.returncode}\n{result.stdout}")
    print(f"   {time.monotonic() - start:.1f} s", flush=True)


def run_blocks(blocks, work):
    scratch = work / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    environment = {**os.environ, "PATH": f"{work / 'build' / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    for block in blocks:
        folder = scratch / block.section.lower().replace(" ", "-")
        folder.mkdir(parents=True, exist_ok=True)
        run(str(block), ["bash", "-euxo", "pipefail", "-c", block.text], cwd=folder, env=environment)


def main(arguments):
    if not arguments:
        raise Fault(__doc__)
    work = pathlib.Path(arguments[0]).resolve()
    blocks = read_blocks((SOURCE / PAGE).read_text(encoding="utf-8"))
    check_page(blocks)
    commands = [block for block in blocks if block.language == "sh"]

    fresh = work / "fresh"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    copy_repository(fresh)
    for block in blocks:
        if block.language == "diff":
            apply_diff(block, fresh)
    update(work / "tree", fresh)
    shutil.rmtree(fresh)

    tests = sorted({name for block in commands for name in re.findall(r"\btest_\w+", block.text)})
    run("configure", ["cmake", "-S", str(work / "tree"), "-B", str(work / "build"), *CHEAP, *arguments[1:]])
    run("build cgpo " + " ".join(tests),
        ["cmake", "--build", str(work / "build"), "-j", str(os.cpu_count() or 1), "--target", "cgpo", *tests])
    run_blocks(commands, work)
    print(f"{PAGE} does what it says")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Fault as fault:
        sys.exit(f"contributing: {fault}")
