"""Tests of hard.py: means, deviations, and that hard.csv is what its times say."""

import math
import tomllib
import unittest

import hard


def cell(*times):
    return hard.of_times(list(times))


class Compared(unittest.TestCase):
    def test_the_means_are_compared_and_the_interval_is_that_of_the_differences(self):
        ours, theirs = cell(1.1, 2.1, 3.1, 4.1), cell(1.0, 2.0, 3.0, 4.0)
        mean, reference, error, half = hard.compared(ours, theirs)
        self.assertAlmostEqual(mean, 2.6)
        self.assertAlmostEqual(reference, 2.5)
        self.assertAlmostEqual(error, 0.04)
        # Runs lie apart by seconds, the two sides by a tenth in each.
        self.assertLess(half, 0.05)
        alone = hard.compared(cell(2.6, 2.6, 2.6, 2.6), theirs)
        self.assertGreater(alone[3], 0.5)

    def test_a_run_that_ended_on_neither_side_is_in_no_mean(self):
        mean, reference, error, _ = hard.compared(cell(2, 2, 2, math.inf), cell(1, 1, 1, math.inf))
        self.assertEqual((mean, reference, error), (2, 1, 1))

    def test_a_run_that_ended_on_one_side_only_counts_with_the_whole_duration(self):
        mean, reference, _, _ = hard.compared(cell(2, 2, 2, math.inf), cell(2, 2, 2, 2))
        self.assertEqual((mean, reference), ((6 + hard.duration()) / 4, 2))

    def test_other_numbers_of_runs_have_no_interval(self):
        *_, error, half = hard.compared(cell(2, 2), cell(1, 1, 1))
        self.assertEqual(error, 1)
        self.assertTrue(math.isnan(half))

    def test_the_quantiles_are_those_of_student(self):
        for freedom, quantile in ((5, 2.571), (10, 2.228), (11, 2.201), (30, 2.042)):
            self.assertAlmostEqual(hard.student(freedom), quantile, delta=0.006)


class Stored(unittest.TestCase):
    def test_every_cell_has_twelve_starts_that_differ(self):
        stored = hard.load()
        for name in hard.STUDIES:
            with open(hard.HERE / f"hard/{name}.toml", "rb") as file:
                declared = tomllib.load(file)
            self.assertGreaterEqual(declared["replications"], 12)
            self.assertTrue(declared["start_jitter"])
            for label in hard.study(name)[1]:
                runs = stored[label, hard.VIRTUAL]["times_s"]
                self.assertEqual(len(runs), declared["replications"], label)
                self.assertGreater(len(set(runs)), 1, label)

    def test_means_and_deviations_are_those_of_the_times(self):
        for (label, _), numbers in hard.load().items():
            again = hard.of_times(numbers["times_s"])
            self.assertEqual(numbers["runs"], again["runs"], label)
            self.assertEqual(numbers["ended"], again["ended"], label)
            self.assertAlmostEqual(numbers["mean_s"], again["mean_s"], delta=2e-4, msg=label)
            if again["ended"] > 1:
                self.assertAlmostEqual(numbers["sd_s"], again["sd_s"], delta=2e-4, msg=label)

    def test_what_is_explained_is_a_cell(self):
        labels = {label for name in hard.STUDIES for label in hard.study(name)[1]}
        self.assertLessEqual(set(tomllib.loads(hard.EXPLANATIONS.read_text())), labels)


if __name__ == "__main__":
    unittest.main()
