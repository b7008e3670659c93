#!/usr/bin/env bash
# extract_blocks.sh PAGE FOLDER: writes every fenced block of a Markdown page that has a title (```cpp title=main.cpp)
# to a file of that name, and prints the names in the order of the page.
set -euo pipefail
page=${1:?usage: extract_blocks.sh PAGE FOLDER}
folder=${2:?usage: extract_blocks.sh PAGE FOLDER}
mkdir -p "$folder"
awk -v folder="$folder" '
  /^```/ && inside { inside = 0; if (file != "") close(file); file = ""; next }
  /^```/ {
    inside = 1
    if (match($0, /title=[A-Za-z0-9_.-]+/)) {
      name = substr($0, RSTART + 6, RLENGTH - 6)
      file = folder "/" name
      printf "" > file
      print name
    }
    next
  }
  inside && file != "" { print > file }
  END { if (inside) { print "a block is not closed" > "/dev/stderr"; exit 1 } }
' "$page"
