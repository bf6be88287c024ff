"""The group of commands, and the one place where errors become a line and an exit code."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from gawah import __version__
from gawah.cli import answers, calibration, documents, evaluation, inspection
from gawah.errors import GawahError

DEBUG_ENV = "GAWAH_DEBUG"
_INTERRUPTED = 130  # 128 + SIGINT, as shells report it


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="gawah")
@click.option("--store", type=click.Path(path_type=Path), help="Folder of the store (or GAWAH_STORE).")
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="Settings file (or GAWAH_CONFIG).")
@click.pass_context
def group(context: click.Context, store: Path | None, config_file: Path | None) -> None:
    """Answers from your documents that can be re-checked, and refusals where there is nothing to answer from.

    \b
    gawah ingest FOLDER          read a folder into the store
    gawah ask "a question"       an answer with citations, or a refusal (exit code 3)
    gawah verify                 every quote ever given, against its source as it is now
    """
    context.obj = {"store": store, "config_file": config_file}


for command in (
    documents.ingest, documents.ls, documents.status, documents.rm, documents.retry,
    answers.search, answers.ask, answers.show, answers.verify,
    evaluation.evaluate_set, calibration.calibrate,
    inspection.inspect, inspection.chunk, inspection.doctor, inspection.config,
):  # fmt: skip
    group.add_command(command)


def main() -> None:
    """Runs the command line and exits."""
    sys.exit(_run())


def _run() -> int:
    try:
        result = group.main(standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Abort:
        return _say("interrupted; what was acknowledged is kept", _INTERRUPTED)
    except KeyboardInterrupt:
        return _say("interrupted; what was acknowledged is kept", _INTERRUPTED)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except GawahError as error:
        return _say(str(error), error.exit_code)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains at exit
        return 0
    except Exception as error:  # an edge: the last resort of the command line
        if os.environ.get(DEBUG_ENV):
            raise
        return _say(f"{type(error).__name__}: {error}; set {DEBUG_ENV}=1 for the whole story and report it", 1)
    return result if isinstance(result, int) else 0


def _say(message: str, exit_code: int) -> int:
    click.echo(f"gawah: {' '.join(message.split())}", err=True)
    return exit_code
