"""Ends the processes of a call: its own, its children's, and those that tried to get away from it."""

import os
import signal
import time

_ROUNDS = 50


def kill(call, has_session):
    """The call's process, and with a session of its own everybody who stayed in its process group."""
    if has_session:
        _signal(os.killpg, call.pid)
    if call.reaped:
        return
    if _signal(os.kill, call.pid):
        _wait(call.pid)
    elif not _has_ended(call.pid):
        os._exit(3)  # nobody here may end it alone: it goes with the whole worker
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
    """False where the sandbox lets nobody send signals."""
    try:
        send(target, signal.SIGKILL)
    except ProcessLookupError:
        pass
    except PermissionError:
        return False
    return True


def _has_ended(pid):
    """One that has answered ends by itself, at once."""
    for _ in range(_ROUNDS):
        if os.waitpid(pid, os.WNOHANG)[0] == pid:
            return True
        time.sleep(0.01)
    return False


def _wait(pid):
    try:
        os.waitpid(pid, 0)
    except ChildProcessError:
        pass
