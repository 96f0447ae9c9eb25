"""Frames over descriptors: four bytes of big-endian length, then that many bytes.

The gateway asks with `HEAD\\nBODY`: HEAD is one line of JSON about the request, BODY the JSON of its arguments.
The worker answers with the request's id (22 characters), one letter for the kind, and the content.
"""

import fcntl
import os
import select
import threading

ID_LENGTH = 22
_HEADER = 4

# High enough that files opened by tools never get these numbers, and below the smallest usual limit (64).
_FIRST_FD = 50

# Kinds of what is sent to the gateway.
ANSWER, ENDED, PARTIAL, PROGRESS, STDOUT, STDERR = b"a", b"d", b"y", b"p", b"o", b"e"
# The worker ends after the answer that follows; what else it was asked was not begun.
LEAVING = b"l"


class FrameTooLarge(Exception):
    """The other side announced more than it may send."""


class FrameReader:
    """Cuts what a descriptor brings into frames. Every frame is read into a buffer of its own, which can be wiped."""

    def __init__(self, fd, max_bytes):
        self._fd = fd
        self.max_bytes = max_bytes
        self._header = bytearray(_HEADER)
        self._body = None
        self._view = memoryview(self._header)
        self._filled = 0

    def next(self):
        """The next whole frame, or None while more must come first (non-blocking). EOFError at the end."""
        while True:
            try:
                count = os.readv(self._fd, [self._view[self._filled :]])
            except BlockingIOError:
                return None
            if count == 0:
                raise EOFError
            self._filled += count
            if self._filled < len(self._view):
                continue
            self._filled = 0
            if self._body is None:
                self._begin(int.from_bytes(self._header, "big"))
                if len(self._body) > 0:
                    continue
            body, self._body = self._body, None
            self._view = memoryview(self._header)
            return body

    def _begin(self, size):
        if size > self.max_bytes:
            raise FrameTooLarge
        self._body = bytearray(size)
        self._view = memoryview(self._body)

    def wipe(self):
        """Forgets the part of a frame that has come so far."""
        if self._body is not None:
            wipe(self._body)


class FrameWriter:
    """Writes whole frames, also when several threads do."""

    def __init__(self, fd):
        self._fd = fd
        self._lock = threading.Lock()

    def write(self, *parts):
        size = sum(len(part) for part in parts)
        pending = [memoryview(part) for part in (size.to_bytes(_HEADER, "big"), *parts) if len(part) > 0]
        with self._lock:
            while pending:
                count = os.writev(self._fd, pending)
                while pending and count >= len(pending[0]):
                    count -= len(pending.pop(0))
                if count:
                    pending[0] = pending[0][count:]


class Channel:
    """The gateway's requests in, the worker's answers out. Tool code is given no way to it."""

    def __init__(self, requests, answers):
        self.requests = _move(requests)
        self.answers = _move(answers)
        os.set_blocking(self.requests, False)
        self.reader = FrameReader(self.requests, 1 << 20)
        self._writer = FrameWriter(self.answers)
        self._poll = select.poll()
        self._poll.register(self.requests, select.POLLIN)
        # A process that tool code forks is not the worker: it must neither read requests nor answer them.
        os.register_at_fork(after_in_child=self.close)

    def receive(self):
        """Waits for the next request: its head, its body and the buffer both lie in. None when the gateway has gone."""
        while True:
            self._poll.poll()
            try:
                frame = self.reader.next()
            except EOFError:
                return None
            if frame is not None:
                return frame

    def send(self, call_id, kind, content=b""):
        self._writer.write(call_id, kind, content)

    def close(self):
        for fd in (self.requests, self.answers):
            try:
                os.close(fd)
            except OSError:  # tool code was there first
                pass


def split(frame):
    """Where the head of a request ends and its body begins."""
    end = frame.index(b"\n")
    return bytes(frame[:end]), end + 1


def wipe(buffer):
    buffer[:] = bytes(len(buffer))


def _move(fd):
    """Moves a descriptor out of the way of stray writes to 3 and 4; programs that tools start do not inherit it."""
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _FIRST_FD)
    os.close(fd)
    return moved
