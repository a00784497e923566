"""Calls of the command line."""

import pytest

from spurgen.cli import main


def run(capsys, *words):
    """Exit code, standard output and standard error of one call."""
    with pytest.raises(SystemExit) as end:
        main([str(w) for w in words])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return end.value.code or 0, out, err
