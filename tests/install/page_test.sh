#!/usr/bin/env bash
# page_test.sh BUILD PAGE COMPILER: does what docs/guide/your-own-task.md says, in a home of its own: installs this build,
# makes the user's project of the page's blocks, builds it with the page's commands, and runs the rest of them.
set -euo pipefail
build=$(realpath "$1")
page=$(realpath "$2")
export CXX=$3
here=$(dirname "$(realpath "$0")")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/cgpo-page-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
export HOME=$scratch/home
unset CMAKE_PREFIX_PATH cgpo_DIR MuJoCo_ROOT LD_LIBRARY_PATH
mkdir -p "$HOME" "$scratch/repository"

fail() {
  echo "page_test: $*" >&2
  exit 1
}
run_block() {
  [[ -s $project/$1 ]] || fail "the page has no block $1"
  echo "== $1"
  bash -euo pipefail "$project/$1" || fail "$1 ended with exit code $?"
}

project=$scratch/my_tasks
names=$(bash "$here/extract_blocks.sh" "$page" "$project")
echo "blocks: ${names//$'\n'/ }"

# The page installs from the repository's folder, where the build is called `build`.
ln -s "$build" "$scratch/repository/build"
cd "$scratch/repository"
run_block install.sh > "$scratch/install.log" || { cat "$scratch/install.log"; exit 1; }
"$HOME/cgpo/bin/cgpo" --version
ldd "$HOME/cgpo/bin/cgpo" | grep "libmujoco.* => $(realpath "$HOME")/cgpo/" || fail "it takes MuJoCo from elsewhere"

# Nothing that is installed may point back to where it was built.
if grep -rIl -e "$build" -e "$(realpath "$here/../..")" "$HOME/cgpo" --include='*.cmake'; then
  fail "the package names folders of the build"
fi
# The installed headers compile, all of them.
{
  echo 'cmake_minimum_required(VERSION 3.22)'
  echo 'project(headers LANGUAGES CXX)'
  echo 'find_package(cgpo REQUIRED)'
  echo 'add_library(headers OBJECT all.cpp)'
  echo 'target_link_libraries(headers PRIVATE cgpo::run)'
} > "$scratch/CMakeLists.txt"
(cd "$HOME/cgpo/include" && find cgpo -name '*.hpp' | sort | sed 's/.*/#include "&"/') > "$scratch/all.cpp"
cmake -S "$scratch" -B "$scratch/headers" -DCMAKE_PREFIX_PATH="$HOME/cgpo" > "$scratch/headers.log"
cmake --build "$scratch/headers" >> "$scratch/headers.log" || { cat "$scratch/headers.log"; fail "a header does not compile"; }

cd "$project"
run_block files.sh
has() { grep -q "$2" "$1" || fail "$1 lacks $2: $(cat "$1")"; }
has runs/crane-file/definition.toml '<site name="hook"'
run_block mujoco.sh
has runs/crane-mujoco/log.jsonl '"stage":"task"'
has crane_policy.h 'void cgpo_policy'
run_block build.sh
run_block check.sh
run_block train.sh
run_block json.sh

# What scripts rely on.
for task in puck crane; do
  has tasks.json "\"name\":\"$task\""
  for field in episodes return return_paper costs violation_rate limit episode_length feasible; do
    has $task.json "\"$field\":"
  done
done

# The user's tasks fail as ours do: one sentence under the program's own name, exit code 2, nothing written.
refused() {
  local code=0
  build/my_tasks "${@:2}" 2> error.txt > output.txt || code=$?
  [[ $code == 2 && $(wc -l < error.txt) == 1 && ! -s output.txt ]] || fail "${*:2}: exit code $code, $(cat error.txt)"
  has error.txt '^my_tasks: '
  has error.txt "$1"
}
mkdir -p bad
head -c 100000 /dev/urandom > bad/noise.xml
sed 's/<body name="load">/<body>/; s,</worldbody>,,' crane.xml > bad/broken.xml
sed 's/damping="2"/damping="nan"/' crane.xml > bad/nan.xml
sed '/<actuator>/d' crane.xml > bad/idle.xml
sed 's/mass="[0-9.]*"/mass="0"/' crane.xml > bad/massless.xml
sed 's,<worldbody>,<include file="parts/none.xml"/><worldbody>,' crane.xml > bad/include.xml
sed 's,<worldbody>,<asset><mesh name="m" file="none.stl"/></asset><worldbody>,' crane.xml > bad/mesh.xml
refused bad/idle.xml check crane --set task.file=bad/idle.xml
build/my_tasks model bad/idle.xml > output.txt || fail "a robot without actuators was not read"
for bad in missing.xml bad bad/noise.xml bad/broken.xml bad/nan.xml bad/massless.xml bad/include.xml bad/mesh.xml; do
  refused "$bad" check crane --set task.file=$bad
  refused "$bad" train crane --set task.file=$bad --out runs/none
  refused "$bad" train crane --set task.file=$bad task.engine=mujoco gradient.source=zobg --out runs/none
  [[ -d $bad ]] || refused "$bad" model $bad
done
build/my_tasks model bad > output.txt || fail "a folder was not looked at, of which one file can be read"
has output.txt 'nan.xml'
[[ ! -e runs/none ]] || fail "a refused training left a folder"
[[ ! -e MUJOCO_LOG.TXT ]] || fail "MuJoCo wrote a log"

# A robot that includes others of its files, from another folder.
mkdir -p robots/parts
{ echo '<mujocoinclude>'; grep '<motor' crane.xml; echo '</mujocoinclude>'; } > robots/parts/drive.xml
sed 's,<actuator>.*</actuator>,<include file="parts/drive.xml"/>,' crane.xml > robots/crane.xml
build/my_tasks check crane --set task.file=robots/crane.xml > output.txt || fail "an included file was not found"
echo "page_test: all blocks ran"
