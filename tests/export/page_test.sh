#!/usr/bin/env bash
# page_test.sh CGPO PAGE: what docs/guide/export.md says for a shell and a C compiler, word for word.
set -euo pipefail
cgpo=$(realpath "$1")
page=$(realpath "$2")
here=$(dirname "$(realpath "$0")")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/cgpo-page-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
ln -s "$cgpo" "$scratch/bin/cgpo"
export PATH=$scratch/bin:$PATH
bash "$here/../install/extract_blocks.sh" "$page" "$scratch" > /dev/null
cd "$scratch"
bash -euo pipefail export.sh
bash -euo pipefail build.sh
for file in policy.h policy.onnx policy.py self_test loop; do
  [[ -s $file ]] || { echo "page_test: there is no $file" >&2; exit 1; }
done
