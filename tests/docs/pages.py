"""What is wrong with the Markdown pages of a repository. Needs nothing but Python 3.

    python3 tests/docs/pages.py [FOLDER]            names every fault; exit code 1 if there is one
    python3 tests/docs/pages.py --words [FOLDER]    counts the words that people wrote, page by page

Faults are: a line of prose above 200 characters (rows of tables may be wider); a link or picture that leads nowhere, to an
anchor that no heading has, or out of the repository; a page under docs/ that no other page links to; a picture under docs/
that no page shows; a page that a source file names, or a source file that a page names, and that is not there. Pages that
programs wrote may name files of their time."""
import pathlib
import re
import sys
import unicodedata

WIDEST = 200
SOURCES = ("src", "apps", "tests", "experiments", "examples", "scripts", "bench", "cmake")
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
ATTRIBUTE = re.compile(r"<(?:img|a|source)\b[^>]*?\b(?:src|href|srcset)=\"([^\"]+)\"")
NAMED_PAGE = re.compile(r"(?<![\w/.])docs/[a-z0-9./-]*\.md\b")
NAMED_SOURCE = re.compile(r"(?<![\w/.-])(?:" + "|".join(SOURCES) + r")/[\w./-]*\.(?:cpp|hpp|py|sh|js|gnuplot|xml|md)\b")
CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(?:(?!\n\s*\n).)+?(?<!`)\1(?!`)", re.S)
GENERATED = re.compile(r"<!-- (?!end)[^>]*-->\n.*?<!-- end[^>]*-->", re.S)


def find_pages(root):
    def kept(path):
        folders = path.relative_to(root).parts[:-1]
        return not any(name.startswith((".", "build")) or name in ("runs", "shared", "node_modules") for name in folders)

    return sorted(path for path in root.rglob("*.md") if kept(path))


def without_code(text):
    """The text with its fenced blocks and code spans taken out; lines keep their numbers."""
    fence, lines = None, []
    for line in text.split("\n"):
        mark = re.match(r" *(`{3,}|~{3,})", line)
        lines.append("" if fence or mark else line)
        if mark and fence is None:
            fence = mark[1]
        elif mark and line.strip() == fence:
            fence = None
    return CODE_SPAN.sub(lambda span: "``" + "\n" * span[0].count("\n"), "\n".join(lines))


def slug(heading):
    """The anchor that GitHub gives a heading."""
    heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    heading = heading.replace("`", "").replace("*", "").strip().lower()
    kept = (c for c in heading if c in " -_" or unicodedata.category(c)[0] in "LNM")
    return "".join(kept).replace(" ", "-")


def anchors(text):
    found, times = set(), {}
    for line, plain in zip(text.split("\n"), without_code(text).split("\n")):
        heading = re.match(r"#{1,6}\s+(.*?)\s*#*$", line)
        if heading and plain.startswith("#"):
            name = slug(heading[1])
            found.add(f"{name}-{times[name]}" if name in times else name)
            times[name] = times.get(name, 0) + 1
    found.update(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))
    return found


def links(text):
    """(line number, target) of every link and picture."""
    plain = without_code(text)
    for match in sorted([*LINK.finditer(plain), *ATTRIBUTE.finditer(plain)], key=lambda match: match.start()):
        yield plain.count("\n", 0, match.start()) + 1, match[1]


def faults(root):
    root = pathlib.Path(root).resolve()
    pages = {path: path.read_text(encoding="utf-8") for path in find_pages(root)}
    named = set()
    found = []
    for path, text in pages.items():
        where = path.relative_to(root)
        for number, line in enumerate(text.split("\n"), 1):
            if len(line) > WIDEST and not line.lstrip().startswith("|"):
                found.append(f"{where}:{number}: {len(line)} characters, more than {WIDEST}")
        for number, target in links(text):
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            file, _, anchor = target.partition("#")
            goal = (path.parent / file).resolve() if file else path
            if root not in (goal, *goal.parents):
                found.append(f"{where}:{number}: leads out of the repository: {target}")
            elif not goal.exists():
                found.append(f"{where}:{number}: leads nowhere: {target}")
            elif anchor and goal in pages and anchor not in anchors(pages[goal]):
                found.append(f"{where}:{number}: there is no such heading: {target}")
            if goal != path:
                named.add(goal)
        for name in NAMED_SOURCE.findall(text) + NAMED_PAGE.findall(text) if "generated" not in path.parts else ():
            if not (root / name).exists():
                found.append(f"{where}: names {name}, which is not there")
    docs = root / "docs"
    for path in sorted(docs.rglob("*")) if docs.exists() else []:
        if path.suffix == ".md" and path not in named and not (path.name == "README.md" and path.parent in named):
            found.append(f"{path.relative_to(root)}: no page links to it")
        if path.suffix in (".svg", ".png", ".webp", ".gif") and path not in named:
            found.append(f"{path.relative_to(root)}: no page shows it")
    for folder in SOURCES:
        for path in sorted((root / folder).rglob("*")):
            if path.parent == pathlib.Path(__file__).resolve().parent:
                continue  # names of pages that never were
            if path.is_file() and path.suffix in (".hpp", ".cpp", ".py", ".sh", ".js", ".cmake", ".txt", ".gnuplot"):
                for name in NAMED_PAGE.findall(path.read_text(encoding="utf-8", errors="replace")):
                    if not (root / name).exists():
                        found.append(f"{path.relative_to(root)}: names {name}, which is not there")
    return found


def words(root):
    """(page, words) without blocks and pages that programs write."""
    root = pathlib.Path(root).resolve()
    for path in find_pages(root):
        if "generated" not in path.parts:
            yield path.relative_to(root), len(GENERATED.sub("", path.read_text(encoding="utf-8")).split())


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--words"]
    root = arguments[0] if arguments else pathlib.Path(__file__).resolve().parents[2]
    if "--words" in sys.argv:
        counted = list(words(root))
        for path, count in counted:
            print(f"{count:6} {path}")
        print(f"{sum(count for _, count in counted):6} in all")
        return 0
    found = faults(root)
    print("\n".join(found) if found else "all pages are sound")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
