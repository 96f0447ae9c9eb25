"""Ends the worker with the gateway, even while tool code runs and nobody reads the channel."""

import os
import select
import signal
import sys
import threading

_PR_SET_PDEATHSIG = 1


def end_with_gateway(fd):
    """On Linux the kernel sends SIGKILL, which also stops C code that never returns; elsewhere a thread watches."""
    if not (sys.platform.startswith("linux") and _kill_on_parent_death()):
        threading.Thread(target=exit_on_hang_up, args=(fd,), daemon=True).start()


def exit_on_hang_up(fd):
    """Waits, asleep, until the other end of `fd` is closed."""
    poll = select.poll()
    poll.register(fd, 0)
    poll.poll()
    os._exit(1)


def _kill_on_parent_death():
    try:
        import ctypes

        return ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL) == 0
    except (ImportError, OSError, AttributeError):
        return False
