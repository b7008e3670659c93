#!/usr/bin/env bash
# Leaves the wheel of the Python package in BUILD/wheels: what `pip install .` builds, made in a build that exists, with the
# libraries of this system that it needs inside and the tag of the oldest system that it runs on.
# usage: wheel.sh BUILD JOBS
set -euo pipefail
build=$(realpath "$1")
jobs=$2
tools=$build/python/tools/bin
scratch=$build/python/wheel
rm -rf "$scratch" && mkdir -p "$scratch" "$build/wheels"
CMAKE_BUILD_PARALLEL_LEVEL=$jobs "$tools/pip" wheel . --quiet --disable-pip-version-check --no-deps --no-build-isolation \
  --wheel-dir "$scratch" -C build-dir="$build" -C cmake.define.CGPO_TESTS=ON
rm -f "$build"/wheels/*.whl
# MuJoCo's library stays out: it comes with the package mujoco-core.
PATH="$tools:$PATH" "$tools/auditwheel" repair --exclude 'libmujoco.so.*' --wheel-dir "$build/wheels" "$scratch"/*.whl > "$scratch/log" 2>&1 ||
  { cat "$scratch/log" >&2; echo "wheel: auditwheel could not put in what the wheel needs" >&2; exit 1; }
rm -rf "$scratch"
du -h --apparent-size "$build"/wheels/*.whl
