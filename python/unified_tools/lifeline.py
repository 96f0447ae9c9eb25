"""Ends the worker with the gateway, even while tool code runs and nobody reads the channel."""

import os
import select
import threading

from unified_tools import process_limits


def end_with_gateway(fd):
    """On Linux the kernel does it; elsewhere a thread watches the channel."""
    if not process_limits.die_with_parent():
        threading.Thread(target=exit_on_hang_up, args=(fd,), daemon=True).start()


def exit_on_hang_up(fd):
    """Waits, asleep, until the other end of `fd` is closed."""
    poll = select.poll()
    poll.register(fd, 0)
    poll.poll()
    os._exit(1)
