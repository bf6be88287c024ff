"""What a process that reads hostile files may not do: limits on memory, time, files and network, by the kernel.

Linux has all of them. Elsewhere the address space is limited as a whole and the network stays; `Confinement` says so.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
from dataclasses import dataclass
from pathlib import Path

_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38
_OPEN_FILES = 64  # extractors read one file; libraries that load parts late need a few more


@dataclass(frozen=True, slots=True)
class Limits:
    """What one extraction may use. Memory is address space on top of what the fresh process has.

    A page that is read by eye takes seconds, and only whoever has opened the file knows how many there are: each adds to
    both times when its turn comes, up to a number of pages. So a file that hangs is still stopped soon.
    """

    memory_bytes: int = 1 << 30
    cpu_s: int = 60
    wall_s: float = 120.0
    output_bytes: int = 256 << 20
    page_cpu_s: int = 5
    page_wall_s: float = 30.0
    most_pages: int = 2000


def confine(limits: Limits) -> None:
    """Limits this process for good; its children inherit the limits."""
    _limit(resource.RLIMIT_CORE, 0, 0)
    _limit(resource.RLIMIT_NOFILE, _OPEN_FILES, _OPEN_FILES)
    _limit(resource.RLIMIT_FSIZE, limits.output_bytes, limits.output_bytes)
    # At the soft limit comes SIGXCPU, which ends the process and tells why; at the hard one SIGKILL.
    _limit(resource.RLIMIT_CPU, limits.cpu_s, limits.cpu_s + 1 + limits.page_cpu_s * limits.most_pages)
    space = _address_space_bytes() + limits.memory_bytes
    _limit(resource.RLIMIT_AS, space, space)


def allow_page(limits: Limits) -> None:
    """Raises the processor time of this process by that of one page that is read by eye, up to its hard limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if soft != resource.RLIM_INFINITY:
        more = soft + limits.page_cpu_s
        resource.setrlimit(resource.RLIMIT_CPU, (more if hard == resource.RLIM_INFINITY else min(more, hard), hard))


def die_with_parent(parent_pid: int) -> None:
    """Has the kernel kill this process when the one that forked it ends, and ends it if that has happened.

    Programs that this process starts are not covered: an extractor that starts one must have it do the same.
    """
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:
        os._exit(1)


def gain_no_privileges() -> None:
    """No program that this process starts may have more rights than it has."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def isolate_network() -> bool:
    """Moves this process into a network without interfaces, where the kernel permits it. It must have one thread."""
    if _unshare(_CLONE_NEWNET):
        return True
    user, group = os.getuid(), os.getgid()
    if not _unshare(_CLONE_NEWUSER | _CLONE_NEWNET):
        return False
    for name, line in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        try:
            Path("/proc/self", name).write_text(line, encoding="ascii")
        except OSError:
            return True  # without the map this process is nobody inside: it reads the same files, by its real user
    return True


def _limit(which: int, soft: int, hard: int) -> None:
    """Lowers a limit; one that is lower already stays."""
    _, ceiling = resource.getrlimit(which)
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(which, (soft, hard))


def _address_space_bytes() -> int:
    try:
        n_pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    except OSError:
        return 0
    return int(n_pages) * resource.getpagesize()


def _prctl(option: int, value: int) -> bool:
    library = ctypes.CDLL(None, use_errno=True)
    call = getattr(library, "prctl", None)
    return call is not None and call(option, value, 0, 0, 0) == 0


def _unshare(flags: int) -> bool:
    library = ctypes.CDLL(None, use_errno=True)
    call = getattr(library, "unshare", None)
    return call is not None and call(flags) == 0
