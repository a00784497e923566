"""The command line. One file per verb; a verb's imports happen when it runs, so that --help answers at once."""

from __future__ import annotations

import importlib
import os
import sys
from io import TextIOWrapper
from typing import Any

import click

from spurgen.errors import SpurgenError, brief, nearest, shortened
from spurgen.version import __version__

VERBS = {
    "list": "Show what there is: presets, channels, methods, models, metrics, …",
    "generate": "Draw a dataset from a preset or a spec file.",
    "inspect": "Asked against achieved, groups, and a contact sheet.",
    "counterfactual": "Draw one row again with every value of a channel.",
    "verify": "Check every hash and every row of a dataset.",
    "export": "Write a dataset in another format.",
    "pretrain": "Make a start for training: a network that knows other shapes.",
    "train": "Train a model with a method.",
    "evaluate": "Score a run, or anybody's predictions: accuracy, groups, and how much it leans on each channel.",
    "study": "Run and compare many trials: worlds, methods, models, settings, seeds.",
    "report": "Make one HTML page of a study, to be opened from disk.",
}


class Verbs(click.Group):
    """Finds each verb in the file of its name."""

    def list_commands(self, context: click.Context) -> list[str]:
        """All verbs, in the order one uses them."""
        return [*VERBS]  # importing spurgen.cli.list hides the built-in of that name here

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Import one verb."""
        if name not in VERBS:
            return None
        return importlib.import_module(f"spurgen.cli.{name}").command

    def resolve_command(self, context: click.Context, args: list[str]) -> Any:
        """A misspelt verb gets the closest match."""
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            close = nearest(args[0], VERBS)
            hint = f"did you mean {close!r}?" if close else f"verbs: {', '.join(VERBS)}"
            raise click.UsageError(f"there is no verb {brief(args[0])}; {hint}", context)
        return super().resolve_command(context, args)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs without importing them."""
        with formatter.section("Verbs"):
            formatter.write_dl([*VERBS.items()])  # `list` may be a verb here


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="spurgen")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def app(debug: bool) -> None:
    """Does your model understand, or does it cheat?

    SpurGen draws paired data in which every spurious channel is under control.
    Start with: spurgen generate quick/v1 --out quick
    """


def main(args: list[str] | None = None) -> None:
    """Run the command line; errors are one sentence, and the exit code is 0 only when all was done."""
    _speak_any_encoding()
    given = sys.argv[1:] if args is None else [*args]
    debug = "--debug" in given
    # the flag may stand anywhere: people add it at the end of a line that failed
    words = [a for a in given if a != "--debug"]
    try:
        sys.exit(app.main(words, prog_name="spurgen", standalone_mode=False) or 0)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.ClickException as error:
        _fail(_usage(error), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        resumes = {"generate", "pretrain", "train", "study"} & {*words[:1]}
        again = "; the same command again goes on where it was" if resumes else ""
        _fail(f"stopped{again}", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except SpurgenError as error:
        if debug:
            raise
        _fail(str(error), 1)
    except MemoryError:
        _fail("not enough memory; ask for less: fewer rows, smaller pictures, a smaller batch, --workers 1", 1)
    except OSError as error:
        if debug:
            raise
        _fail(f"{error.filename or 'reading or writing failed'}: {error.strerror or error}", 1)
    except Exception as error:
        if debug:
            raise
        _fail(f"this should not have happened: {type(error).__name__}: {error} (--debug shows where)", 70)


def _usage(error: click.ClickException) -> str:
    """A wrong call in one line, with where to look."""
    sentence = shortened(" ".join(error.format_message().split()).rstrip("."), 200)
    context = getattr(error, "ctx", None)
    return f"{sentence} (`{context.command_path} --help` explains)" if context else sentence


def _speak_any_encoding() -> None:
    """Show a question mark where the terminal has no such letter, rather than fail."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def _fail(sentence: str, code: int) -> None:
    click.echo(click.style("error: ", fg="red", bold=True) + sentence, err=True)
    sys.exit(code)
