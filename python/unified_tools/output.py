"""What tool code prints."""

import io
import os
import sys
from contextvars import ContextVar

from unified_tools.channel import STDERR, STDOUT

# As in running_call: the gateway logs so much, and one byte more tells it that something was cut.
_MAX_SENT = 64 * 1024 + 1
_MAX_HELD = 8 * 1024

current_call = ContextVar("current_call", default=None)


class CallOutput:
    """What one call prints, sent a line at a time under its id."""

    def __init__(self, call_id, send):
        self._id = call_id
        self._send = send
        self._held = {STDOUT: bytearray(), STDERR: bytearray()}
        self._left = _MAX_SENT

    def write(self, kind, data):
        held = self._held[kind]
        data = data[: self._left]
        self._left -= len(data)
        held += data
        if b"\n" in data or len(held) > _MAX_HELD:
            self._flush(kind)

    def flush(self):
        for kind in self._held:
            self._flush(kind)

    def _flush(self, kind):
        held = self._held[kind]
        if held:
            self._send(self._id, kind, bytes(held))
            held.clear()


class _Stream(io.RawIOBase):
    """Stands for descriptor 1 or 2: what a call prints goes under its name, anything else where it always went."""

    def __init__(self, kind, fd):
        super().__init__()
        self._kind = kind
        self._fd = fd

    def writable(self):
        return True

    def fileno(self):
        return self._fd

    def write(self, data):
        output = current_call.get()
        if output is None:
            return os.write(self._fd, data)
        output.write(self._kind, bytes(data))
        return len(data)


def tell_calls_apart():
    for name, kind, fd in (("stdout", STDOUT, 1), ("stderr", STDERR, 2)):
        stream = io.TextIOWrapper(_Stream(kind, fd), encoding="utf-8", errors="backslashreplace", write_through=True)
        setattr(sys, name, stream)


def flush_output():
    """What was printed must be on its way before the answer is."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # closed or replaced by tool code: nothing to flush
            pass
