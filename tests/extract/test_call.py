"""What a child sends before and in its reply, and how long it is waited for."""

import socket
import time

import pytest

from gawah.errors import ExtractionError
from gawah.extract.call import Call
from gawah.extract.confine import Limits
from gawah.extract.frames import EXITED, STATUS


def heard(sent, *, limits=None, exit_status=0):
    """A call whose time is up, and whose child had sent all of it before anybody looked."""
    reply, child = socket.socketpair()
    status, server = socket.socketpair()
    with reply, status:
        with child, server:
            child.sendall(sent)
            server.sendall(STATUS.pack(EXITED, exit_status))
        call = Call(reply, status, limits or Limits())
        call.wait(time.monotonic() - 1)
    return call


def test_a_page_read_by_eye_has_time_of_its_own():
    call = heard(b"+++E{}")
    assert (call.n_pages, bytes(call.result())) == (3, b"E{}")


def test_more_pages_than_allowed_are_granted_nothing():
    call = heard(b"+" * 9 + b"E{}", limits=Limits(most_pages=4))
    assert (call.n_pages, bytes(call.payload)) == (4, b"E{}")


def test_marks_inside_a_reply_are_the_replys():
    assert bytes(heard(b"+E+++").result()) == b"E+++"


def test_the_time_that_ran_out_is_named_with_what_was_granted():
    limits = Limits(cpu_s=7, page_cpu_s=5)
    call = heard(b"++", limits=limits, exit_status=24)  # SIGXCPU
    with pytest.raises(ExtractionError, match="more than 17 s of processor time") as caught:
        call.result()
    assert caught.value.reason_code == "timeout_cpu"
