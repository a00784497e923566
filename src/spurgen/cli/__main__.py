"""python -m spurgen.cli: the command line where its script is not installed."""

from spurgen.cli import main

main()
