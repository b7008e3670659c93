#!/usr/bin/env bash
# readme_test.sh BUILD README: runs every `build/bin/cgpo …` of the README's blocks, in their order, in a folder of its
# own. Trainings are cut to two small iterations (what is added is printed); all else is as written. Of `make` and
# `experiments/` commands it asks only that the target or script exists.
set -euo pipefail
build=$(realpath "$1")
readme=$(realpath "$2")
source=$(dirname "$readme")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/cgpo-readme-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
ln -s "$build" build
cp "$source/models/cartpole.xml" my_robot.xml

fail() {
  echo "readme_test: $*" >&2
  exit 1
}
# What makes a command small.
smaller() {
  case "$1" in
    train | compare) echo "--set iterations=2 environments=16 critic.steps=4" ;;
    bench) echo "cartpole --kernels" ;;
    *) ;;
  esac
}

commands=$(awk '/^```/ { inside = !inside; next } inside && /^(build\/bin\/cgpo|make|experiments\/)/ { sub(/ +#.*/, ""); print }' "$readme")
[[ $(grep -c '^build/bin/cgpo' <<< "$commands") -ge 8 ]] || fail "hardly a command found"
while IFS= read -r command; do
  read -r program first _ <<< "$command"
  case "$program" in
    make) grep -q "^$first:" "$source/Makefile" || fail "there is no target $first" ;;
    experiments/*) [[ -x $source/$program ]] || fail "there is no $program" ;;
    *)
      more=$(smaller "$first")
      echo "== $command $more"
      code=0
      bash -euo pipefail -c "$command $more" > output.txt 2> error.txt < /dev/null || code=$?
      [[ $code == 0 ]] || { cat output.txt error.txt; fail "'$command $more' ended with exit code $code"; }
      ;;
  esac
done <<< "$commands"
# And wherever else a command is named.
for script in $(grep -o 'experiments/[a-z_]*\.sh' "$readme" | sort -u); do
  [[ -x $source/$script ]] || fail "there is no $script"
done
echo "readme_test: all commands ran"
