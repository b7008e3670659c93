#!/usr/bin/env bash
# find_mujoco_test.sh SOURCE MUJOCO: what cmake/FindMuJoCo.cmake makes of folders with the MuJoCo that this build found, with
# another version, and with parts of one.
set -euo pipefail
source=$(realpath "$1")
mujoco=$(realpath "$2")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/cgpo-mujoco-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
unset MuJoCo_ROOT
cat > "$scratch/CMakeLists.txt" << 'CMAKE'
cmake_minimum_required(VERSION 3.22)
project(find LANGUAGES NONE)
find_package(MuJoCo REQUIRED)
get_target_property(library mujoco::mujoco IMPORTED_LOCATION)
if(NOT EXISTS ${library})
  message(FATAL_ERROR "there is no ${library}")
endif()
CMAKE

fail() {
  echo "find_mujoco_test: $*" >&2
  exit 1
}
look() {
  rm -rf "$scratch/build"
  cmake -S "$scratch" -B "$scratch/build" -DCMAKE_MODULE_PATH="$source/cmake" "$@" > "$scratch/log" 2>&1
}
# CMake breaks lines where it likes.
refused() {
  local sentence=$1
  shift
  ! look "$@" || fail "$*: was taken"
  tr -s ' \n' ' ' < "$scratch/log" | grep -qF "$sentence" || fail "$* does not say '$sentence': $(cat "$scratch/log")"
}
folder_with() {  # NAME VERSION-IN-HEADER LIBRARY
  mkdir -p "$scratch/$1/include/mujoco" "$scratch/$1/lib"
  echo "#define mjVERSION_HEADER $2" > "$scratch/$1/include/mujoco/mujoco.h"
  [ -z "$3" ] || touch "$scratch/$1/lib/$3"
}

look -DMuJoCo_ROOT="$mujoco" || fail "the one of this build: $(cat "$scratch/log")"
MuJoCo_ROOT=$mujoco look || fail "the one of this build, by the environment: $(cat "$scratch/log")"
mkdir "$scratch/wheel"
ln -s "$mujoco" "$scratch/wheel/mujoco"
look -DMuJoCo_ROOT="$scratch/wheel" || fail "a wheel's folder: $(cat "$scratch/log")"
folder_with release 4000001 libmujoco.so.4.0.1
look -DMuJoCo_ROOT="$scratch/release" || fail "a later patch: $(cat "$scratch/log")"

mkdir "$scratch/empty"
refused "MuJoCo 4.0 is needed; $scratch/empty has no include/mujoco/mujoco.h: run scripts/fetch_mujoco.sh" \
  -DMuJoCo_ROOT="$scratch/empty"
folder_with old 222 libmujoco.so.2.2.2
refused "MuJoCo 4.0 is needed; $scratch/old has 2.2.2: run" -DMuJoCo_ROOT="$scratch/old"
folder_with later 4001000 libmujoco.so.4.1.0
refused "$scratch/later has 4.1.0" -DMuJoCo_ROOT="$scratch/later"
folder_with half 4000000 ""
refused "$scratch/half has headers, and no libmujoco.so.4.0.0" -DMuJoCo_ROOT="$scratch/half"
echo "find_mujoco_test: all folders are what they are"
