"""The group of commands, and the one place where errors become a line and an exit code."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import click

from gawah import __version__
from gawah.cli import answers, calibration, documents, evaluation, inspection, migration, models, serving, transfer
from gawah.cli.common import PATH
from gawah.cli.interrupts import INTERRUPTED, MESSAGE, leave_at_once, raise_once
from gawah.cli.streams import READER_GONE, OutputFailedError, take_over
from gawah.cli.terminal import say
from gawah.errors import GawahError

DEBUG_ENV = "GAWAH_DEBUG"


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="gawah")
@click.option("--store", type=PATH, help="Folder of the store (or GAWAH_STORE).")
@click.option("--config", "config_file", type=PATH, help="Settings file (or GAWAH_CONFIG).")
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
    migration.migrate, migration.refresh,
    evaluation.evaluate_set, evaluation.report_run, calibration.calibrate,
    inspection.inspect, inspection.chunk, inspection.doctor, inspection.config,
    serving.serve, serving.mcp, serving.worker, serving.keys, models.models,
    transfer.export, transfer.import_,
):  # fmt: skip
    group.add_command(command)


def run() -> int:
    """Runs the command that the arguments name; returns its exit code."""
    take_over()
    try:
        return _ended(_run())
    except OutputFailedError as error:
        return _ended(_output_failed(error))


def _ended(code: int) -> int:
    leave_at_once()
    return code


def _run() -> int:
    try:
        raise_once()
        with group.make_context("gawah", sys.argv[1:]) as context:
            result = group.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as ended:  # --help, --version
        sys.stdout.flush()
        return ended.exit_code
    except (click.exceptions.Abort, KeyboardInterrupt):
        sys.stdout.flush()  # the process leaves without Python's own end
        return _say(MESSAGE, INTERRUPTED)
    except click.ClickException as error:
        return _say_usage(error)
    except GawahError as error:
        return _say(str(error), error.exit_code)
    except OutputFailedError:
        raise
    except OSError as error:  # a path or a device that cannot be used: the caller's to mend, no fault of the program
        where = f"{os.fsdecode(error.filename)!r}: " if isinstance(error.filename, str | bytes) else ""
        return _say(f"{where}{error.strerror or error}; check the path and its permissions", 1)
    except Exception as error:  # an edge: the last resort of the command line
        if os.environ.get(DEBUG_ENV):
            raise
        return _say(f"{type(error).__name__}: {error}; set {DEBUG_ENV}=1 for the whole story and report it", 1)
    return result if isinstance(result, int) else 0


def _output_failed(error: OutputFailedError) -> int:
    if error.reader_gone:
        return READER_GONE
    return _say(f"the output cannot be written: {error}; what was done is kept", 1)


def _say_usage(error: click.ClickException) -> int:
    """Click's own lines; they repeat the arguments, which may be anything."""
    lines = io.StringIO()
    error.show(lines)
    for line in lines.getvalue().splitlines():
        say(line, err=True)
    return error.exit_code


def _say(message: str, exit_code: int) -> int:
    say(f"gawah: {' '.join(message.split())}", err=True)
    return exit_code
