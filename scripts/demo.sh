#!/usr/bin/env bash
# Trains the smallest task, aiming 2 % below its limit so that the limit holds with confidence, evaluates the result on
# fresh episodes, makes a page of it, and says what came of it.
set -euo pipefail
cgpo=${1:?usage: demo.sh PROGRAM}
run=runs/demo

"$cgpo" train function --set radius.margin=0.02 --out "$run" --force
echo
"$cgpo" eval "$run"

# The one JSON object of `eval --json` is flat enough to be read without a parser: field NAME, first match.
field() { sed -E "s/.*\"$1\":([^,}]*).*/\1/" <<< "$2"; }
result=$("$cgpo" eval "$run" --json)
cost=${result#*\"costs\":}
last=$(tail -n 1 "$run/log.jsonl")
mean=$(field mean "${cost%%\}*}") se=$(field se "${cost%%\}*}") limit=$(field limit "${cost%%\}*}")
limit=$(printf %g "$limit")
verdict=$(field verdict "${cost%%\}*}" | tr -d '"')
case $verdict in
  holds) words="the limit of $limit holds with 95 % confidence" ;;
  exceeded) words="the limit of $limit is exceeded, with 95 % confidence" ;;
  *) words="the limit of $limit lies inside its 95 % confidence interval" ;;
esac
page=$("$cgpo" report "$run" --json 2> /dev/null | sed -E 's/.*"out":"([^"]*)".*/\1/')
awk -v page="$(pwd)/$page" -v mean="$mean" -v se="$se" -v limit="$limit" -v words="$words" -v steps="$(field steps "$last")" \
    -v seconds="$(field seconds "$last")" 'BEGIN {
  printf "\nLearned: reward equals cost here, so the best safe return is the limit, %g; the policy reaches %.3f ± %.3f, and ", limit, mean, se
  printf "%s. Training took %d steps in %.1f s: %.0f steps a second.\n", words, steps, seconds, steps / seconds
  printf "See it in a browser: %s\n", page }'
