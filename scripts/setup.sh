#!/usr/bin/env bash
# Installs the Debian packages that the project needs, and only those that are missing, and fetches MuJoCo.
# usage: setup.sh [build] [test]      what building and the demo need; what tests, pictures, lint and benchmarks add
set -euo pipefail
build=(
  g++ cmake ninja-build make                                             # compiler and build
  libfmt-dev libcli11-dev libtomlplusplus-dev nlohmann-json3-dev         # text, command line, configuration, JSON
  librandom123-dev                                                       # counter-based random numbers
  libasmjit-dev                                                          # encodes machine code
  python3-pip python3-venv python3-dev                                   # fetch MuJoCo and other packages; the Python package
  libjs-three libjs-chart.js                                             # pages: robots, curves
)
test=(
  git python3                                                            # scripts; simulators over a pipe
  clang clang-format clang-tidy clang-tools libclang-rt-14-dev           # the other compiler, its sanitizers, format, lint
  libgtest-dev libgmock-dev libbenchmark-dev                             # tests and benchmarks
  gnuplot-nox                                                            # pictures of comparisons and experiments
  chromium                                                               # tests of the pages; films of replays
  webp                                                                   # puts films together
)
packages=()
for group in "${@:-build}"; do
  case $group in
    build) packages+=("${build[@]}") ;;
    test) packages+=("${test[@]}") ;;
    *) echo "setup: there are build and test, not '$group'" >&2; exit 2 ;;
  esac
done
install_packages() {
  if ! command -v dpkg-query > /dev/null; then
    echo "setup: this is not a Debian system; install the counterparts of: ${packages[*]}" >&2
    return
  fi
  local missing=() sudo=() package
  for package in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2> /dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo > /dev/null || { echo "setup: as root, run: apt-get install ${missing[*]}" >&2; exit 2; }
    sudo=(sudo)
  fi
  echo "setup: installing with apt-get: ${missing[*]}"
  "${sudo[@]}" apt-get update -qq
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null
}
install_packages
"$(dirname "$0")/fetch_mujoco.sh"
