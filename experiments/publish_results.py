#!/usr/bin/env python3
"""Puts what `cgpo reproduce NAME` has written into docs/results.md, and its pictures beside it.

    experiments/publish_results.py NAME FOLDER

FOLDER is that of the command. In docs/results.md the text between `<!-- NAME -->` and `<!-- end of NAME -->` is
replaced; what is said about the numbers stands outside of these lines and stays."""
import pathlib
import re
import shutil
import sys

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    text = (folder / f"{name}.md").read_text()
    body = text.split("\n", 1)[1].strip()  # without the title

    def publish(match):
        source = match[2]
        target = source.replace("/", "-")
        if "/" in source or not target.startswith(name):
            target = f"{name}-{target}"
        shutil.copyfile(folder / source, DOCS / "pictures" / "results" / target)
        return f"![{match[1]}](pictures/results/{target})"

    body = re.sub(r"!\[([^]]*)\]\(([^)]*)\)", publish, body)
    page = DOCS / "results.md"
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, found, rest = page.read_text().partition(begin)
    if not found or end not in rest:
        sys.exit(f"{page}: there is no '{begin}' … '{end}'")
    page.write_text(f"{before}{begin}\n{body}\n{end}{rest.split(end, 1)[1]}")


main()
