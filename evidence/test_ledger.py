"""What the ledger finds in a page: `python3 -m unittest discover -s evidence`."""

import tempfile
import tomllib
import unittest
from pathlib import Path
from unittest import mock

import check
import entries
import measure
import pages
import sources

GROUP = """
[corners]
about = "a test"
command = "true"
needs = []
minutes = 1
parts = ["engine"]
fingerprint = { engine = "now" }
commit = "abcd1234"
date = 2026-11-24
inputs = ["10 Mbit/s"]

[corners.values]
median = { value = 0.32, unit = "%", find = 'median (?P<value>[\\d.]+)%' }
cells = { value = 105, find = '(\\d+) cells' }
time = { value = 10.78, low = 8.3, high = 13.1, unit = "s" }
each = { value = [1, 2], find = 'run (\\d+)' }
most = { value = 3, find = 'off ([+-]\\d+)', of = "worst" }
"""
PLAIN = """
everywhere = ['RFC \\d+']
"p.md" = ["600 ms", "5 s × 2"]
"""


class Pages(unittest.TestCase):
    def setUp(self):
        fixed = mock.patch.object(sources, "fingerprint", lambda part, commit=None: "now")
        fixed.start()
        self.addCleanup(fixed.stop)
        self.ledger = {
            name: entries.parse(name, "linux", table)
            for name, table in tomllib.loads(GROUP).items()
        }

    def faults(self, text, plain=""):
        page = pages.read("p.md", text)
        return sorted(check.faults_of(page, self.ledger, check.Plain(plain), set()))

    def one(self, text, line, message, plain=""):
        faults = self.faults(text, plain)
        self.assertEqual(len(faults), 1, faults)
        self.assertEqual(faults[0][0], line, faults)
        self.assertIn(message, faults[0][1])

    def old(self, commit="abcd1234"):
        self.ledger["corners"].fingerprint = {"engine": "before"}
        self.ledger["corners"].commit = commit

    def test_values_as_the_page_rounds_them_and_inputs_pass(self):
        text = "Intro.\n\n<!-- evidence: corners -->\n105 cells, 10.8 s (8.3 to 13.1) at\n10 Mbit/s: 0.3%.\n"
        self.assertEqual(self.faults(text), [])

    def test_a_wrong_number_fails_in_its_line(self):
        text = "Intro.\n\n<!-- evidence: corners -->\n105 cells:\nmedian 0.4%.\n"
        self.one(text, 5, "`0.4%` is no value and no input of corners")

    def test_a_number_with_another_unit_is_another_number(self):
        self.one("<!-- evidence: corners -->\nmedian 0.3 s\n", 2, "`0.3 s` is no value")
        self.one("<!-- evidence: corners -->\n105%\n", 2, "`105%` is no value")
        self.one("<!-- evidence: corners -->\n0%\n", 2, "`0%` is no value")

    def test_a_number_without_mark_fails(self):
        self.one("# Title\n\nIt takes\n3 hours.\n", 4, "neither marked as evidence nor listed")

    def test_an_unknown_name_fails_and_says_which_is_near(self):
        self.one("One <!-- evidence: corner -->\n", 1, "no entry `corner`; did you mean `corners`?")

    def test_a_mark_in_a_row_is_for_the_row_only(self):
        text = "| a | b |\n|---|---|\n| x | 0.3% <!-- evidence: corners --> |\n| y | 0.3% |\n"
        self.one(text, 4, "`0.3%` is neither marked")

    def test_a_mark_in_a_paragraph_is_for_the_text_before_it(self):
        self.assertEqual(self.faults("It is\n0.3%. <!-- evidence: corners --> Good.\n"), [])
        self.one("0.3% <!-- evidence: corners -->, 7 s.\n", 1, "`7 s` is neither marked")

    def test_a_mark_that_a_line_break_put_alone_is_for_the_text_before_it(self):
        text = "# A\n\nIt is 0.3%\n<!-- evidence: corners -->\nand 7 s.\n"
        self.one(text, 5, "`7 s` is neither marked")

    def test_a_mark_above_nothing_fails(self):
        self.one("# A\n\n<!-- evidence: corners -->\n", 3, "above nothing")
        self.one(
            "# A\n\n<!-- evidence: corners -->\n\n0.3 x\n", 3, "above nothing", '"p.md" = ["0.3 x"]'
        )

    def test_a_stale_entry_without_note_fails_with_its_command(self):
        self.old()
        self.one("0.3% <!-- evidence: corners -->\n", 1, "must say (measured at abcd1234)")
        self.one("0.3% <!-- evidence: corners -->\n", 1, "`make evidence GROUP=linux/corners`")
        self.one("<!-- evidence: corners -->\n0.3%\n", 2, "must say (measured at abcd1234)")

    def test_a_wrong_note_and_a_needless_one_fail(self):
        self.one("0.3% (measured at abcd1234) <!-- evidence: corners -->\n", 1, "is current")
        self.old()
        self.one("0.3% (measured at 12345678) <!-- evidence: corners -->\n", 1, "must say")

    def test_write_adds_the_notes_that_check_asks_for_and_takes_them_away(self):
        text = "A.\n\n<!-- evidence: corners -->\n| 0.3% |\n\n- 105 cells <!-- evidence: corners -->\n- B\n"
        write = lambda text: check.written(pages.read("p.md", text), self.ledger)
        self.assertEqual(write(text), text)
        self.old("unknown")
        noted = write(text)
        self.assertIn(
            "\n\n(measured at a commit that was not stored) <!-- measured -->\n\n-", noted
        )
        self.assertIn("- 105 cells (measured at a commit that was not stored) <!-- ", noted)
        self.assertEqual(self.faults(noted), [])
        self.assertEqual(write(noted), noted)
        self.ledger["corners"].fingerprint, self.ledger["corners"].commit = {"engine": "now"}, "a"
        self.assertEqual(write(noted), text)

    def test_a_note_that_belongs_to_no_mark_fails(self):
        self.one(
            "A.\n\n(measured at abcd1234) <!-- measured -->\n", 3, "not as the ledger writes it"
        )

    def test_plain_phrases_are_counted(self):
        self.assertEqual(self.faults("RFC 793: 600 ms, 5 s and 5 s.\n", PLAIN), [])
        self.one("600 ms, 5 s and 5 s and 5 s.\n", 1, "`5 s` is neither", PLAIN)
        self.one("600 ms and 5 s.\n", 1, "has `5 s` 2 times, the page 1", PLAIN)

    def test_code_links_and_generated_blocks_are_no_prose(self):
        text = (
            "`--rate 3` [a](b-3.md)\n\n```sh\nx 3\n```\n\n<!-- results: p -->\n3 s\n<!-- end -->\n"
        )
        self.assertEqual(self.faults(text), [])

    def test_a_range_has_the_unit_of_its_end(self):
        self.ledger["corners"].values[0].values = [0.1, 0.32]
        self.assertEqual(self.faults("0.1 to 0.3% <!-- evidence: corners -->\n"), [])


class Measuring(unittest.TestCase):
    def test_values_are_read_in_the_declared_way(self):
        entry = entries.parse("corners", "linux", tomllib.loads(GROUP)["corners"])
        entry.values = [v for v in entry.values if v.name != "time"]
        output = "12 cells, median 0.5%\nrun 7\nrun 8\noff +2\noff -4\n"
        values = measure.renewed(entry, output)
        self.assertEqual(values["median"], {"value": 0.5})
        self.assertEqual(values["each"], {"value": [7.0, 8.0]})
        self.assertEqual(values["most"], {"value": 4.0})
        with self.assertRaisesRegex(entries.Fault, "corners: median: nothing in the output"):
            measure.renewed(entry, "")
        text = entries.renew(GROUP, "corners", {"commit": '"x"', "kernel": '"6.18"'}, values)
        table = tomllib.loads(text)["corners"]
        self.assertEqual((table["commit"], table["kernel"]), ("x", "6.18"))
        self.assertEqual(table["values"]["median"]["value"], 0.5)
        self.assertEqual(table["values"]["each"]["value"], [7, 8])

    def test_json_and_csv_are_read(self):
        self.assertEqual(measure.read({"json": "a.1.b"}, '{"a": [0, {"b": 3}]}'), {"value": 3.0})
        spec = {"column": "t", "where": {"k": "x"}, "of": "median"}
        self.assertEqual(measure.read(spec, "k,t\nx,1\ny,9\nx,3\n"), {"value": 2.0})

    def test_unknown_keys_are_faults(self):
        with self.assertRaisesRegex(entries.Fault, "unknown key comand"):
            entries.parse("a", "linux", {"comand": "x"})


class Fingerprints(unittest.TestCase):
    def test_comments_tests_and_spacing_change_nothing(self):
        code = 'fn a() -> char { "// no comment"; \'"\' } // said\n'
        same = '/* more */\nfn a() -> char {\n    "// no comment"; \'"\' }\n#[cfg(test)]\nmod tests { fn b() { {} } }\n'
        self.assertEqual(sources.stripped("a.rs", code), sources.stripped("a.rs", same))
        self.assertNotEqual(
            sources.stripped("a.rs", code), sources.stripped("a.rs", code.replace("no", "a"))
        )
        self.assertEqual(sources.stripped("a.toml", "a = '#'  # b\n"), "a = '#'")

    def test_the_pages_of_the_papers_are_held(self):
        held = check.Plain(check.PLAIN.read_text()).files()
        pages = {p.parent.name for p in (sources.ROOT / "papers").glob("*/README.md")}
        self.assertEqual({Path(p).parent.name for p in held if p.startswith("papers/")}, pages)

    def test_a_part_is_sources_without_tests(self):
        for path in (
            "crates/tcp/src/rate/tests.rs",
            "crates/a/tests/b.rs",
            "web/x.spec.ts",
            "a.md",
        ):
            self.assertFalse(sources.counts(path), path)
        self.assertTrue(sources.counts("crates/tcp/src/rate.rs"))

    def test_the_tree_is_read_as_a_commit_is(self):
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.object(sources, "ROOT", Path(folder)),
        ):
            for words in (
                ["init", "-q"],
                ["config", "user.email", "a@b"],
                ["config", "user.name", "a"],
            ):
                sources.git(*words)
            (Path(folder) / "src").mkdir()
            (Path(folder) / "src/a.rs").write_text("fn a() {}\n")
            (Path(folder) / "src/a_tests.rs").write_text("fn t() {}\n")
            (Path(folder) / "a.csv").write_text("1\n")
            sources.git("add", ".")
            sources.git("commit", "-qm", "a")
            self.assertEqual(sources.here(["src"]), {"src/a.rs": "fn a() {}\n"})
            self.assertEqual(sources.here(["a.csv"]), {"a.csv": "1\n"})
            self.assertEqual(sources.at("HEAD", ["a.csv"]), {"a.csv": "1\n"})
            self.assertEqual(sources.at("HEAD", ["src"]), sources.here(["src"]))


if __name__ == "__main__":
    unittest.main()
