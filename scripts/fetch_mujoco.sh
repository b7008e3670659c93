#!/usr/bin/env bash
# Fetches MuJoCo's library and headers to .deps/mujoco-core-VERSION, where all builds find them: the wheel that
# cmake/mujoco.txt pins is downloaded with pip, and nothing is installed into any Python.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."
version=$(sed -n 's/^mujoco-core==\([0-9.]*\).*/\1/p' cmake/mujoco.txt)
folder=.deps/mujoco-core-$version
[ -e "$folder/mujoco/include/mujoco/mujoco.h" ] && exit 0
if [ -n "${MuJoCo_ROOT:-}" ]; then  # the user's own, which CMake looks at first
  exit 0
fi
if ! python3 -m pip --version > /dev/null 2>&1; then
  echo "fetch_mujoco: python3 has no pip to fetch MuJoCo $version with; install it (Debian: python3-pip), or set MuJoCo_ROOT to a folder with MuJoCo $version" >&2
  exit 2
fi
mkdir -p .deps
scratch=$(mktemp -d .deps/fetching-XXXXXX)
trap 'rm -rf "$scratch"' EXIT
machine=$(uname -m)
echo "fetch_mujoco: downloading MuJoCo $version with pip"
# Any Python fetches the same file: what it is itself does not matter.
if ! python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --require-hashes \
    --implementation cp --python-version 3.11 --abi cp311 \
    --platform "manylinux_2_28_$machine" --platform "manylinux_2_27_$machine" \
    --dest "$scratch" --requirement cmake/mujoco.txt > "$scratch/pip.log" 2>&1; then
  cat "$scratch/pip.log" >&2
  echo "fetch_mujoco: pip could not download mujoco-core $version for $machine; set MuJoCo_ROOT to a folder with MuJoCo $version if you have one" >&2
  exit 2
fi
python3 - "$scratch" << 'PYTHON'
import pathlib, re, sys, zipfile
folder = pathlib.Path(sys.argv[1])
with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
    wanted = re.compile(r"mujoco/(include/.*\.h|libmujoco\.so\..*)|mujoco_core-[^/]*\.dist-info/licenses/.*")
    wheel.extractall(folder / "unpacked", [name for name in wheel.namelist() if wanted.fullmatch(name)])
PYTHON
# Whole or not at all; one that came in the meantime is as good.
mv -T "$scratch/unpacked" "$folder" 2> /dev/null || [ -e "$folder/mujoco/include/mujoco/mujoco.h" ]
