"""Ends the processes of a call: its own, its children's, and those that tried to get away from it."""

import os
import signal

_ROUNDS = 50


def kill(call, has_session):
    """The call's process, and with a session of its own everybody who stayed in its process group."""
    if has_session:
        _signal(os.killpg, call.pid)
    if not call.reaped:
        _signal(os.kill, call.pid)
        _wait(call.pid)
        call.reaped = True


def kill_everything():
    """As the first process of a pid namespace: all others, at once, however they hid."""
    _signal(os.kill, -1)
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        pass


def kill_orphans(running):
    """Children of this process that run no call and are in the session of none: what ended calls left behind."""
    pids = {call.pid for call in running}
    for _ in range(_ROUNDS):
        orphans = [pid for pid in _children() if pid not in pids and _session(pid) not in pids]
        if not orphans:
            return
        for pid in orphans:
            _signal(os.kill, pid)
        for pid in orphans:
            _wait(pid)


def _children():
    pid = os.getpid()
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(child) for child in file.read().split()]
    except (OSError, ValueError):
        return []


def _session(pid):
    try:
        return os.getsid(pid)
    except OSError:
        return None


def _signal(send, target):
    try:
        send(target, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _wait(pid):
    try:
        os.waitpid(pid, 0)
    except ChildProcessError:
        pass
