"""The pages of this repository, and whether pages.py would see what is wrong with one."""
import pathlib
import tempfile
import unittest

import pages


class Repository(unittest.TestCase):
    def test_no_page_has_a_fault(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        self.assertGreater(len(pages.find_pages(root)), 30)
        found = pages.faults(root)
        self.assertFalse(found, "\n" + "\n".join(found))


class Faults(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write("README.md", "# A\n\n[docs](docs/README.md)\n")
        self.write("docs/README.md", "# B\n\n## What `x` means, *here*\n\n## Twice\n\n## Twice\n")

    def write(self, name, text):
        path = pathlib.Path(self.folder.name) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def expect(self, *wanted):
        self.assertEqual(pages.faults(self.folder.name), list(wanted))

    def test_sound_pages_have_none(self):
        self.write("README.md", "[one\nover two lines](docs/README.md#what-x-means-here) [two](docs/README.md#twice-1) [out](https://a.b/c)\n"
                                "| " + "w" * 300 + " |\n`[no link](x.md)` `[over\ntwo lines](x.md)`\n```\n[nor this](y.md)\n```\n")
        self.expect()

    def test_long_lines(self):
        self.write("README.md", "[docs](docs/README.md)\n" + "ä" * 200 + "\n" + "ä" * 201 + "\n```\n" + "c" * 202 + "\n```\n")
        self.expect("README.md:3: 201 characters, more than 200", "README.md:5: 202 characters, more than 200")

    def test_dead_links_pictures_and_anchors(self):
        self.write("README.md", "[docs](docs/README.md#thrice) and ![p](docs/p.png)\n\n<img src=\"docs/q.png\"> [self](#nowhere) [up](../x.md) [two\nlines](z.md)\n")
        self.expect("README.md:1: there is no such heading: docs/README.md#thrice", "README.md:1: leads nowhere: docs/p.png",
                    "README.md:3: leads nowhere: docs/q.png", "README.md:3: there is no such heading: #nowhere",
                    "README.md:3: leads out of the repository: ../x.md", "README.md:3: leads nowhere: z.md")

    def test_pages_and_pictures_that_nobody_names(self):
        self.write("docs/alone.md", "# C\n")
        self.write("docs/alone.svg", "<svg/>")
        self.expect("docs/alone.md: no page links to it", "docs/alone.svg: no page shows it")

    def test_pages_that_sources_name(self):
        self.write("src/a.cpp", "// docs/README.md, docs/b.md\n")
        self.expect("src/a.cpp: names docs/b.md, which is not there")

    def test_sources_that_pages_name(self):
        self.write("src/a.cpp", "")
        self.write("README.md", "[docs](docs/README.md), `src/a.cpp` and `tests/b.sh`; not x/src/c.cpp\n")
        self.expect("README.md: names tests/b.sh, which is not there")

    def test_words_of_programs_do_not_count(self):
        self.write("docs/README.md", "three words here\n<!-- table -->\n| 1 | 2 |\n<!-- end -->\n")
        self.write("docs/generated/x.md", "many words\n")
        self.assertEqual([count for _, count in pages.words(self.folder.name)], [3, 3])


if __name__ == "__main__":
    unittest.main()
