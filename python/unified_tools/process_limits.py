"""What the kernel is asked to enforce on workers and on the processes that run calls. Best effort off Linux."""

import os
import resource
import signal
import struct
import sys

try:
    import ctypes
except ImportError:  # some Pythons are built without it
    ctypes = None

_CPUS = os.cpu_count() or 1
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 1, 4, 36


#: The same numbers on every machine.
_LANDLOCK_CREATE_RULESET, _LANDLOCK_RESTRICT_SELF = 444, 446
_SCOPE_SIGNAL = 2


def _load_libc():
    if ctypes is None or not sys.platform.startswith("linux"):
        return None
    try:
        return ctypes.CDLL(None, use_errno=True)
    except OSError:
        return None


# Loaded before the first fork: a process that runs a call only uses it.
_libc = _load_libc()


def _ask(option, value):
    return _libc is not None and _libc.prctl(option, value, 0, 0, 0) == 0


def die_with_parent():
    """The kernel sends SIGKILL when the parent ends, which also stops C code that never returns."""
    return _ask(_PR_SET_PDEATHSIG, signal.SIGKILL)


def keep_memory_private():
    """No process of the same user may read this one's memory or trace it. Forked children inherit it."""
    return _ask(_PR_SET_DUMPABLE, 0)


def adopt_orphans():
    """Descendants whose parent ended become children of this process, where they can be found."""
    return _ask(_PR_SET_CHILD_SUBREAPER, 1)


def keep_signals_inside():
    """From now on this process signals nobody but itself and what it starts. False where the kernel cannot see to it."""
    if _libc is None:
        return False
    attributes = struct.pack("QQQ", 0, 0, _SCOPE_SIGNAL)
    ruleset = _libc.syscall(_LANDLOCK_CREATE_RULESET, attributes, ctypes.c_long(len(attributes)), ctypes.c_long(0))
    if ruleset < 0:
        return False
    try:
        return _libc.syscall(_LANDLOCK_RESTRICT_SELF, ctypes.c_long(ruleset), ctypes.c_long(0)) == 0
    finally:
        os.close(ruleset)


def limit(kind, value):
    """Lowers a limit; never raises it."""
    try:
        _, hard = resource.getrlimit(kind)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))
    except (ValueError, OSError):
        pass


def no_core_files():
    limit(resource.RLIMIT_CORE, 0)


def make_room():
    """For a process that forks for others, where the kernel counts what neighbours start as well: no limit but the hard
    one. Returns the limit that calls shall have, before spare processes; None without one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    if soft == resource.RLIM_INFINITY:
        return None
    resource.setrlimit(resource.RLIMIT_NPROC, (hard, hard))
    return soft


def keep_room():
    """For a process that runs calls itself: what is the limit stays the limit."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    if soft != resource.RLIM_INFINITY:
        limit(resource.RLIMIT_NPROC, soft)


def limit_call(seconds, memory_bytes, max_processes):
    """For a process that runs one call. The wall clock is the zygote's business; this is for what escapes it."""
    limit(resource.RLIMIT_CPU, int(seconds) * _CPUS + 1)
    if memory_bytes:
        limit(resource.RLIMIT_AS, memory_bytes)
    if max_processes:
        limit(resource.RLIMIT_NPROC, max_processes)


def resident_bytes():
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
