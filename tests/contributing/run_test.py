"""That run.py finds what is wrong with a page. Builds nothing."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import run

EXAMPLES = "".join(f"## A {name}\n```diff\n--- a/x\n```\nWords.\n```sh\ntrue\n```\n" for name in run.EXAMPLES)
GOOD = "--- a/file\n+++ b/file\n@@ -1,3 +1,4 @@\n one\n+more\n\n three\n"


class Page(unittest.TestCase):
    def test_blocks_know_their_section_and_line(self):
        blocks = run.read_blocks("# T\n## A task\n```diff\n+a\n\n b\n```\n## A key\nwords\n```sh\nls\n```\n")
        self.assertEqual([(b.section, b.language, b.line) for b in blocks], [("A task", "diff", 3), ("A key", "sh", 10)])
        self.assertEqual(blocks[0].text, "+a\n\n b\n")

    def test_headings_inside_blocks_are_text(self):
        self.assertEqual(run.read_blocks("## A\n```sh\n## no\n```\n```sh\n```\n")[1].section, "A")

    def test_a_block_must_end(self):
        with self.assertRaisesRegex(run.Fault, "does not end"):
            run.read_blocks("```sh\nls\n")

    def test_a_whole_page_is_accepted(self):
        run.check_page(run.read_blocks(EXAMPLES + "```\nmake test\ncmake --preset dev\n```\n"))

    def test_every_example_is_needed(self):
        for name in run.EXAMPLES:
            with self.assertRaisesRegex(run.Fault, f"example of a {name}"):
                run.check_page(run.read_blocks(EXAMPLES.replace(f"A {name}\n", "Words\n")))

    def test_targets_and_presets_exist(self):
        for wrong in ("make coffee", "cmake --preset strong"):
            with self.assertRaisesRegex(run.Fault, "there is no (target coffee|preset strong)"):
                run.check_page(run.read_blocks(f"{EXAMPLES}```\n{wrong}\n```\n"))


class Diff(unittest.TestCase):
    """In a folder of a repository, as a build folder is."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        root = pathlib.Path(self.folder.name).resolve()
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        self.tree = root / "build" / "tree"
        self.tree.mkdir(parents=True)
        (self.tree / "file").write_text("one\n\nthree\n")

    def tearDown(self):
        self.folder.cleanup()

    def apply(self, text):
        block = run.Block("A task", "diff", 1)
        block.lines = text.splitlines()
        run.apply_diff(block, self.tree)

    def test_changes_the_tree(self):
        self.apply(GOOD)
        self.assertEqual((self.tree / "file").read_text(), "one\nmore\n\nthree\n")

    def test_takes_what_git_writes(self):
        self.apply("diff --git a/file b/file\n" + GOOD)
        self.assertEqual((self.tree / "file").read_text(), "one\nmore\n\nthree\n")

    def test_adds_files(self):
        self.apply("--- /dev/null\n+++ b/folder/new\n@@ -0,0 +1,1 @@\n+text\n")
        self.assertEqual((self.tree / "folder" / "new").read_text(), "text\n")

    def test_other_context_is_a_fault(self):
        (self.tree / "file").write_text("ONE\n\nthree\n")
        with self.assertRaisesRegex(run.Fault, "does not apply"):
            self.apply(GOOD)

    def test_no_diff_is_a_fault(self):
        with self.assertRaisesRegex(run.Fault, "does not apply"):
            self.apply("words\n")


class Tree(unittest.TestCase):
    def test_update_leaves_what_is_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            fresh, tree = pathlib.Path(folder) / "fresh", pathlib.Path(folder) / "tree"
            for root, names in ((fresh, {"same": "a", "other": "new", "b/added": "c"}),
                                (tree, {"same": "a", "other": "old", "gone": "d"})):
                for name, text in names.items():
                    (root / name).parent.mkdir(parents=True, exist_ok=True)
                    (root / name).write_text(text)
            before = (tree / "same").stat().st_mtime_ns
            run.update(tree, fresh)
            self.assertEqual((tree / "same").stat().st_mtime_ns, before)
            self.assertEqual(run.files_below(tree), run.files_below(fresh))
            self.assertEqual((tree / "other").read_text(), "new")

    def test_a_command_that_fails_is_a_fault(self):
        block = run.Block("A task", "sh", 1)
        with tempfile.TemporaryDirectory() as folder:
            for text in ("false\ntrue", "false | cat", "cat $nothing_of_this_name"):
                block.lines = text.splitlines()
                with self.assertRaisesRegex(run.Fault, "exit code"):
                    run.run_blocks([block], pathlib.Path(folder))
            block.lines = ["echo > file", "test -e file"]
            run.run_blocks([block], pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(unittest.main())
