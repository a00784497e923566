"""Rows of a dataset, or of a world that is drawn on demand, as labelled batches; imports no framework by itself."""

from spurgen.load.groups import Groups, groups

__all__ = ["Groups", "groups"]
