"""cRT without balance: a new head trained plainly on features that stay; what the other two are compared with."""

from __future__ import annotations

from spurgen.learning import Method
from spurgen.methods._two_stage import FirstStage, Retrained

METHOD = Method(
    name="vanilla_crt",
    about="plain training, then a new head on frozen features, trained plainly too",
    paper="Kang et al. 2020, Decoupling Representation and Classifier for Long-Tailed Recognition, arXiv:1910.09217",
    learner=Retrained,
    settings=FirstStage,
)
