"""experiments/publish_results.py on a folder as `cgpo reproduce table1` leaves it, and docs of its own."""
import importlib.util
import pathlib
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "experiments" / "publish_results.py"
LONG = "The size is that of |J_C| and so on, - not a list, 1. nor this. " * 12
RANKING = ("| metric | setting | a | b | ranking |\n| --- | --- | --- | --- | --- |\n"
           "| Conv. | as above | 1 | 2 |  |\n| Conv. | window 5 % | 1 | 2 | same |\n| Conv. | window 20 % | 2 | 1 | moves |\n")


class Publish(unittest.TestCase):
    def setUp(self):
        spec = importlib.util.spec_from_file_location("publish_results", SCRIPT)
        self.program = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.program)
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.docs, self.folder = pathlib.Path(scratch.name) / "docs", pathlib.Path(scratch.name) / "table1"
        self.program.DOCS = self.docs
        self.program.PICTURES = self.docs / "pictures" / "results"
        for folder in (self.program.PICTURES, self.docs / "results" / "generated", self.folder):
            folder.mkdir(parents=True)
        (self.docs / "results" / "table1.md").write_text("what people say\n")
        (self.folder / "table1.md").write_text(f"# Title\n\n{LONG}\n\n\n| {'w' * 150} |\n| --- |\n\n![all](table1.svg)\n")
        (self.folder / "table1.svg").write_text("<svg>all</svg>")
        for task in self.program.TABLE1_TASKS:
            (self.folder / task).mkdir()
            (self.folder / task / "table.md").write_text(f"| algorithm | return |\n| --- | --- |\n| a | 1 |\n\n{RANKING}")
            (self.folder / task / "curves.svg").write_text(f"<svg>{task}</svg>")

    def publish(self, *page):
        self.program.sys.argv = ["publish_results.py", "table1", str(self.folder), *page]
        self.program.main()

    def test_numbers_come_and_the_reading_stays(self):
        self.publish()
        page = (self.docs / "results" / "generated" / "table1.md").read_text()
        self.assertEqual((self.docs / "results" / "table1.md").read_text(), "what people say\n")
        self.assertIn(f"| {'w' * 150} |\n| --- |\n\n![all](../../pictures/results/table1.svg)\n", page)
        self.assertEqual(page.split("table1.md).\n", 1)[1].split()[:len(LONG.split())], LONG.split())
        for line in page.split("\n"):
            self.assertTrue(line.startswith("|") or len(line) <= 120, line)
            self.assertNotRegex(line, r"^(\|J|- |1\. )")
        self.assertEqual((self.program.PICTURES / "table1.svg").read_text(), "<svg>all</svg>")

    def test_rankings_that_move(self):
        self.publish()
        page = (self.docs / "results" / "generated" / "table1-ranking.md").read_text()
        self.assertEqual(page.count("| as above |"), 4)
        self.assertEqual(page.count("| moves |"), 4)
        self.assertNotIn("same", page)
        self.assertNotIn("algorithm |", page)
        self.assertEqual((self.program.PICTURES / "table1_ant.svg").read_text(), "<svg>ant</svg>")

    def test_a_second_form_has_a_page_and_pictures_of_its_own(self):
        self.publish()
        (self.folder / "table1.svg").write_text("<svg>as the paper</svg>")
        self.publish("table1-paper")
        self.assertEqual((self.program.PICTURES / "table1.svg").read_text(), "<svg>all</svg>")
        self.assertEqual((self.program.PICTURES / "table1-paper.svg").read_text(), "<svg>as the paper</svg>")
        page = (self.docs / "results" / "generated" / "table1-paper.md").read_text()
        self.assertIn("![all](../../pictures/results/table1-paper.svg)", page)
        self.assertIn("[what they say](../table1.md)", page)
        self.assertTrue((self.docs / "results" / "generated" / "table1-paper-ranking.md").exists())
        self.assertTrue((self.program.PICTURES / "table1-paper_ant.svg").exists())

    def test_a_result_without_a_page_is_refused(self):
        (self.docs / "results" / "table1.md").unlink()
        with self.assertRaisesRegex(SystemExit, "there is no docs/results/table1.md"):
            self.publish()
        self.assertEqual(list((self.docs / "results" / "generated").iterdir()), [])


if __name__ == "__main__":
    unittest.main()
