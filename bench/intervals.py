"""How often intervals that are called 95% hold the true mean difference, for few seeds.

python bench/intervals.py [--studies 4000]
"""

from __future__ import annotations

import argparse

import numpy as np

from spurgen.compare.bootstrap import bootstrap_interval
from spurgen.compare.paired import paired_t


def main() -> None:
    """Simulate studies whose differences are normal with mean 1."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=4000)
    studies = parser.parse_args().studies
    rng = np.random.default_rng(0)
    for seeds in (3, 5, 10, 20):
        drawn = rng.normal(1, 1, (studies, seeds))
        t = np.mean([found.low <= 1 <= found.high for found in map(paired_t, drawn)])
        intervals = [bootstrap_interval(values, resamples=2000) for values in drawn]
        bootstrap = np.mean([low <= 1 <= high for low, high in intervals])
        print(f"{seeds:>2} seeds: the t-test's holds it in {100 * t:.1f}%, the bootstrap's in {100 * bootstrap:.1f}%")


if __name__ == "__main__":
    main()
