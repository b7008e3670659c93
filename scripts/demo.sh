#!/usr/bin/env bash
# Trains HalfCheetah to its speed limit, judges the policy on fresh episodes, makes a page on which it runs, and says what
# came of it. usage: demo.sh PROGRAM
set -euo pipefail
cgpo=${1:?usage: demo.sh PROGRAM}
run=runs/demo

"$cgpo" train halfcheetah --out "$run" --force
echo
"$cgpo" eval "$run" | tee "$run/eval.txt"
page=$("$cgpo" report "$run" --json 2> /dev/null | sed -E 's/.*"out":"([^"]*)".*/\1/')

verdict=$(sed -n 's/^verdict *//p' "$run/eval.txt")
echo
echo "The robot was rewarded for running and allowed to run only so fast; verdict: $verdict."
echo "See it run, in a browser: $(pwd)/$page"
