"""Resampling: every group, or class, is drawn equally often."""

from __future__ import annotations

from spurgen.learning import Method, Needs, Sampling
from spurgen.methods._weights import Over
from spurgen.methods.erm import Erm


class Resample(Erm):
    """Plain training on rows that are drawn group by group, with replacement."""

    def sampling(self, stage: int) -> Sampling:
        """Groups or classes equally often."""
        return Sampling("balanced", over=self.settings.over)


METHOD = Method(
    name="resample",
    about="draws rows so that every group is seen equally often; rows of rare groups come again and again",
    paper="Idrissi et al. 2022, Simple Data Balancing Achieves Competitive Worst-Group-Accuracy, arXiv:2110.14503",
    learner=Resample,
    settings=Over,
    needs=Needs(groups=True, rows=True),
)
