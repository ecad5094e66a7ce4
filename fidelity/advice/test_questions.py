"""Tests of questions.py: what verdicts are held to be worth, and the table that the ledger reads."""

import contextlib
import csv
import io
import json
import re
import tempfile
import unittest
from argparse import Namespace
from pathlib import Path

import questions

LABEL, OTHER = "geo-downloads-default", "leo-plain"


def row(share, others=1.0, runs=4):
    """A setting that takes `share` of the baseline's time, others `others`, in every run."""
    pairs = lambda factor: [(factor * usual, usual) for usual in range(10, 10 + runs)]
    own, beside = questions.moments(pairs(share)), questions.moments(pairs(others))
    return {
        "effort": 0,
        "deployable": True,
        "own": {"0 download": own},
        "others": {"0 download": beside},
        "resent": [runs, 0.0],
    }


def line(seed, pick, certainty="clear", **rows):
    """A verdict with bbr at 80% of the baseline's time, and others as `rows` say."""
    return {
        "seed": seed,
        "certainty": certainty,
        "keep": pick is None,
        "pick": pick,
        "baseline": "cubic",
        "headline": f"Use {pick}." if pick else "Keep cubic.",
        "lost": 0.0,
        "rows": {"cubic": row(1.0), "bbr": row(0.8), **rows},
    }


class Judging(unittest.TestCase):
    def test_a_verdict_that_the_other_seeds_show_is_right(self):
        found = questions.judge(LABEL, [line(seed, "bbr") for seed in range(3)])
        self.assertEqual(found.counts["judged"], 3)
        self.assertEqual(found.counts["right"], 3)
        self.assertEqual((found.counts["opposite"], found.wrong), (0, []))
        self.assertEqual([r["agrees"] for r in found.rows], [True] * 3)

    def test_keeping_what_another_setting_beats_is_wrong_and_opposite(self):
        found = questions.judge(LABEL, [line(0, "bbr"), line(1, "bbr"), line(2, None)])
        self.assertEqual((found.counts["judged"], found.counts["right"]), (3, 2))
        self.assertEqual((found.counts["opposite"], found.counts["pairs"]), (1, 2))
        self.assertEqual(found.rows[2]["why_not"], "bbr is worth it")
        self.assertIn("Keep cubic. But bbr is worth it", found.wrong[0])

    def test_a_setting_that_harms_others_is_no_advice(self):
        harmful = {"bbr": row(0.8, others=1.5)}
        found = questions.judge(LABEL, [line(seed, "bbr", **harmful) for seed in range(2)])
        self.assertEqual(found.counts["right"], 0)
        self.assertEqual(found.rows[0]["why_not"], "it gains 20.0%, others lose 50.0%")

    def test_settings_that_the_same_seeds_show_as_good_are_not_opposite(self):
        # In the runs that each has, one takes 80%, the other 73% of the time.
        lines = [line(0, "bbr", hybla=row(0.73)), line(1, "hybla", hybla=row(0.73))]
        self.assertEqual(questions.judge(LABEL, lines).counts["opposite"], 1)
        close, apart = {"bbr": 0.22, "hybla": 0.25}, {"bbr": 0.20, "hybla": 0.27}
        self.assertEqual(questions.judge(LABEL, lines, close).counts["opposite"], 0)
        self.assertEqual(questions.judge(LABEL, lines, apart).counts["opposite"], 1)
        # Keeping what another changes stays opposite.
        kept = [lines[0], line(1, None)]
        self.assertEqual(questions.judge(LABEL, kept, close).counts["opposite"], 1)

    def test_only_clear_verdicts_are_judged(self):
        lines = [line(0, "bbr"), line(1, None, "open"), line(2, None, "borderline")]
        found = questions.judge(LABEL, lines)
        self.assertEqual(found.counts["judged"], 1)
        self.assertEqual((found.counts["open"], found.counts["borderline"]), (1, 1))
        self.assertEqual(found.counts["opposite"], 0)


class Settling(unittest.TestCase):
    def test_the_settings_of_verdicts_become_options(self):
        self.assertEqual(
            questions.settled.settings({"bbr", "cubic + IW 32 behind split"}),
            (["--transport", "bbr,cubic + IW 32"], ["--pep", "none,split"]),
        )
        self.assertEqual(
            questions.settled.settings({"bbr"}),
            (["--transport", "bbr"], []),
        )
        options = ["--users", "4", "--transport", "cubic,bbr", "--loss", "0"]
        self.assertEqual(
            questions.settled.without(options, ["--transport", "--pep"]),
            ["--users", "4", "--loss", "0"],
        )


class Summary(unittest.TestCase):
    def summary(self, results):
        """Exit status, what it prints, and the rows of its CSV file."""
        with tempfile.TemporaryDirectory() as folder:
            for label, lines in results.items():
                text = "".join(json.dumps(one) + "\n" for one in lines)
                (Path(folder) / f"{label}.jsonl").write_text(text)
            file = f"{folder}/verdicts.csv"
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                status = questions.summary(Namespace(dir=folder, only="", csv=file))
            with open(file) as written:
                return status, out.getvalue(), list(csv.DictReader(written))

    def test_the_table_counts_by_kind_and_in_all(self):
        kept = [line(seed, None, "exact", bbr=row(1.0)) for seed in range(2)]
        results = {LABEL: [line(0, "bbr"), line(1, "bbr"), line(2, "bbr", "open")], OTHER: kept}
        status, text, rows = self.summary(results)
        self.assertEqual(status, 0)
        table = re.findall(r"^\|.*$", text, re.M)
        self.assertEqual(
            table[2:],
            [
                "| geo-downloads | 1 | 3 | 2 | 0 | 1 | 100.0% | 100.0% | 0 |",
                "| leo | 1 | 2 | 2 | 0 | 0 | 100.0% | 100.0% | 0 |",
                "| all | 2 | 5 | 4 | 0 | 1 | 100.0% | 100.0% | 0 |",
            ],
        )
        self.assertEqual(len({cells.count("|") for cells in table}), 1)
        self.assertRegex(text, r"(?m)^2 questions, 5 verdicts: 4 clear, 0 borderline, 1 open: 80")
        self.assertEqual([r["certainty"] for r in rows].count("clear"), 2)
        self.assertEqual({r["question"] for r in rows}, {LABEL, OTHER})

    def test_opposite_verdicts_miss_the_bar(self):
        self.assertEqual(self.summary({LABEL: [line(0, "bbr"), line(1, None)]})[0], 1)

    def test_results_of_different_sources_are_refused(self):
        mixed = [line(seed, "bbr") for seed in range(3)]
        mixed[1]["parts"], mixed[2]["parts"] = {"engine": "a"}, {"engine": "b"}
        with self.assertRaisesRegex(RuntimeError, "different sources"):
            self.summary({LABEL: mixed})
        # Older results do not say.
        mixed[2].pop("parts")
        self.assertEqual(self.summary({LABEL: mixed})[0], 0)


if __name__ == "__main__":
    unittest.main()
