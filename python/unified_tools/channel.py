"""Frames over two file descriptors: four bytes of big-endian length, then that many bytes of UTF-8 JSON."""

import fcntl
import os

_HEADER = 4
_READ = 1 << 16

# High enough that files opened by tools never get these numbers, and below the smallest usual limit (64).
_FIRST_FD = 50


class Channel:
    """The gateway's requests in, the worker's answers out. Tool code is given no way to it."""

    def __init__(self, requests, answers):
        self._requests = _move(requests)
        self._answers = _move(answers)
        self._rest = b""
        # A process that tool code forks is not the worker: it must neither read requests nor answer them.
        os.register_at_fork(after_in_child=self.close)

    def receive(self):
        """The next frame's content, or None when the gateway has gone."""
        data = self._rest
        while len(data) < _HEADER:
            more = os.read(self._requests, _READ)
            if not more:
                return None
            data += more
        end = _HEADER + int.from_bytes(data[:_HEADER], "big")
        if len(data) < end:
            parts = [data]
            missing = end - len(data)
            while missing > 0:
                more = os.read(self._requests, missing)
                if not more:
                    return None
                parts.append(more)
                missing -= len(more)
            data = b"".join(parts)
        self._rest = data[end:]
        return data[_HEADER:end]

    def send(self, content):
        """Writes one frame; a single system call unless the pipe is full."""
        frame = len(content).to_bytes(_HEADER, "big") + content
        written = os.write(self._answers, frame)
        while written < len(frame):
            frame = memoryview(frame)[written:]
            written = os.write(self._answers, frame)

    def close(self):
        os.close(self._requests)
        os.close(self._answers)

    @property
    def lifeline(self):
        """The descriptor that hangs up when the gateway ends."""
        return self._requests


def _move(fd):
    """Moves a descriptor out of the way of stray writes to 3 and 4; programs that tools start do not inherit it."""
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _FIRST_FD)
    os.close(fd)
    return moved
