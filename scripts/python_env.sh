#!/usr/bin/env bash
# Makes a virtual environment with these packages, and leaves one that has them as it is: then no network is needed.
# usage: python_env.sh FOLDER REQUIREMENT...
set -euo pipefail
folder=$1
shift
stamp=$folder/.requirements
python=${PYTHON:-python3}
wanted="$("$python" --version) $*"
[ -e "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && exit 0
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "python_env: $("$python" --version) is too old, 3.11 is needed; PYTHON=… names another" >&2
  exit 2
fi
echo "python_env: installing to $folder: $*"
rm -rf "$folder"
"$python" -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check "$@"
printf '%s' "$wanted" > "$stamp"
