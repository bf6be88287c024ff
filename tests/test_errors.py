"""Every error class has an exit code of the documented set, a status, a code of its own, and a place in the tree drawing."""

import pickle

import pytest

from gawah import errors


def classes():
    return [cls for cls in vars(errors).values() if isinstance(cls, type) and issubclass(cls, errors.GawahError)]


@pytest.mark.parametrize("cls", classes(), ids=lambda cls: cls.__name__)
def test_exit_codes_and_statuses_are_of_the_documented_sets(cls):
    assert cls.exit_code in {1, 2, 5, 6, 7}
    assert 400 <= cls.http_status < 600


@pytest.mark.parametrize("cls", classes(), ids=lambda cls: cls.__name__)
def test_the_tree_in_the_docstring_names_every_class(cls):
    line = next(line for line in errors.__doc__.splitlines() if cls.__name__ in line)
    if cls is not errors.GawahError and "exit" in line:
        assert int(line.split("exit")[1].split()[0]) == cls.exit_code


def test_codes_are_distinct():
    codes = [cls.code for cls in classes()]
    assert len(codes) == len(set(codes))


def test_an_extraction_error_crosses_processes_whole():
    error = pickle.loads(pickle.dumps(errors.ExtractionError("timeout_wall", "took too long", retryable=True)))
    assert (error.reason_code, str(error), error.retryable) == ("timeout_wall", "took too long", True)
