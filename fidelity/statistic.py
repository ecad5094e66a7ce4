"""Means, 95% intervals and their quotients, with Python's standard library only."""

import math
from dataclasses import dataclass

# Student's t at 97.5 % for 1, 2, ... degrees of freedom; beyond the table by Cornish and Fisher's series.
T_975 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
         2.120, 2.110, 2.101, 2.093, 2.086)  # fmt: skip
Z_975 = 1.959964


def student(degrees):
    if degrees <= len(T_975):
        return T_975[degrees - 1]
    z = Z_975
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)


@dataclass(frozen=True)
class Estimate:
    mean: float
    half: float  # of the 95% interval
    runs: int

    @property
    def relative(self):
        return self.half / self.mean if self.mean else math.inf


def estimate(values):
    n = len(values)
    mean = math.fsum(values) / n
    if n < 2:
        return Estimate(mean, math.inf, n)
    variance = math.fsum((v - mean) ** 2 for v in values) / (n - 1)
    return Estimate(mean, student(n - 1) * math.sqrt(variance / n), n)


def ratio(ours, theirs):
    """ours / theirs with the half width of its 95% interval: the two are independent."""
    if not theirs.mean:
        return math.inf, math.inf
    value = ours.mean / theirs.mean
    return value, value * math.hypot(ours.relative, theirs.relative)
