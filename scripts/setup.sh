#!/usr/bin/env bash
# Installs the Debian packages that the project builds with, and only those that are missing.
set -euo pipefail
packages=(
  g++ clang cmake ninja-build make git                                   # compilers and build
  clang-format clang-tidy clang-tools libclang-rt-14-dev                 # format, lint, clang's sanitizers
  libfmt-dev libcli11-dev libtomlplusplus-dev nlohmann-json3-dev         # text, command line, configuration, JSON
  librandom123-dev                                                       # counter-based random numbers
  libasmjit-dev                                                          # encodes machine code
  libmujoco-dev                                                          # MJCF compiler, oracle, black-box engine
  libgtest-dev libgmock-dev libbenchmark-dev                             # tests and benchmarks
  gnuplot-nox                                                            # pictures of experiments/
  libjs-three libjs-chart.js libcpp-httplib-dev                          # pages: robots, curves; the live view's server
  chromium python3                                                       # tests of the pages and of simulators over a pipe; films of replays
  webp                                                                   # puts films together
)
if ! command -v dpkg-query > /dev/null; then
  echo "setup: this is not a Debian system; install the counterparts of: ${packages[*]}" >&2
  exit 0
fi
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2> /dev/null | grep -q 'install ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0
sudo=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo > /dev/null || { echo "setup: as root, run: apt-get install ${missing[*]}" >&2; exit 2; }
  sudo=(sudo)
fi
echo "setup: installing with apt-get: ${missing[*]}"
"${sudo[@]}" apt-get update -qq
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null
