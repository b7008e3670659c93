#!/usr/bin/env python3
"""Puts what `cgpo reproduce NAME` has written into docs/results/generated/NAME.md, and its pictures beside the others.

    experiments/publish_results.py NAME FOLDER [PAGE]

FOLDER is that of the command; PAGE, NAME unless given, tells a second form of it apart: table1-paper. What is said about the numbers stands in docs/results/NAME.md and is not touched. Of table1
the tables that halve and double each setting of the metrics come, too, as table1-ranking.md: the rows as they are and
those in which the ranking moves."""
import pathlib
import re
import shutil
import sys
import textwrap

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
PICTURES = DOCS / "pictures" / "results"
WIDTH = 120
TABLE1_TASKS = {"cartpole": "CartPole", "reacher": "Reacher", "halfcheetah": "HalfCheetah", "ant": "Ant"}


def wrap(line):
    """One paragraph in lines of which none begins like a table, a list or a heading."""
    indent = "  " if line.startswith("- ") else ""
    for width in range(WIDTH, WIDTH // 2, -1):
        lines = textwrap.wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
        if not any(re.match(r"\s*([|#>]|[-+*] |\d+[.)] )", each) for each in lines[1:]):
            break
    return lines


def wrapped(text):
    """Prose in short lines; tables, pictures and headings as they are."""
    lines = []
    for line in re.sub(r"\n{3,}", "\n\n", text.strip()).split("\n"):
        lines += [line] if line.startswith(("|", "!", "#")) or len(line) <= WIDTH else wrap(line)
    return "\n".join(lines)


def write(name, reading, body):
    page = DOCS / "results" / "generated" / f"{name}.md"
    page.write_text(f"# `{name}`: the numbers\n\nMade by program, not by hand; [what they say](../{reading}.md).\n\n"
                    f"{wrapped(body)}\n")


def publish_pictures(name, page, folder, body):
    def publish(match):
        source = match[2]
        target = source.replace("/", "-")
        own = "/" not in source and target.startswith(name)
        target = page + target[len(name):] if own else f"{page}-{target}"
        shutil.copyfile(folder / source, PICTURES / target)
        return f"![{match[1]}](../../pictures/results/{target})"

    return re.sub(r"!\[([^]]*)\]\(([^)]*)\)", publish, body)


def publish_ranking(page, folder):
    body = ["Each setting of the metrics halved and doubled, with every algorithm's rank in its row: the settings as they are, "
            "and those in which the ranking moves. Of each task's `table.md`, as `cgpo compare` writes it."]
    for task, title in TABLE1_TASKS.items():
        rows = [line for line in (folder / task / "table.md").read_text().split("\n") if line.startswith("| ")]
        second = next(i for i, row in enumerate(rows) if row.startswith("| metric |"))
        kept = [row for row in rows[second:] if row.startswith(("| metric |", "| --- |")) or "| as above |" in row or row.endswith("| moves |")]
        body += [f"## {title}", "\n".join(kept)]
        shutil.copyfile(folder / task / "curves.svg", PICTURES / f"{page}_{task}.svg")
    write(f"{page}-ranking", "table1", "\n\n".join(body))


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    page = sys.argv[3] if len(sys.argv) == 4 else name
    if not (DOCS / "results" / f"{name}.md").exists():
        sys.exit(f"there is no docs/results/{name}.md that says what it means")
    text = (folder / f"{name}.md").read_text()
    body = text.split("\n", 1)[1].strip()  # without the title
    write(page, name, publish_pictures(name, page, folder, body))
    if name == "table1":
        publish_ranking(page, folder)


if __name__ == "__main__":
    main()
