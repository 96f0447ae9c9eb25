"""RunningCall: what the zygote knows of one call's process."""

import os
import time

from unified_tools.channel import STDERR, STDOUT, FrameReader

# The gateway logs so much of a call and says that it cut the rest: one byte more tells it to.
_MAX_RELAYED = 64 * 1024 + 1
_FLOOD = 64 * 1024 * 1024
_LAST_WORDS = 1 << 20
# The gateway's own limit comes first; this one holds when the gateway is too busy to say so.
_GRACE_SECONDS = 0.1


class RunningCall:
    def __init__(self, call_id, pid, answers, out, err, limit_ms, max_bytes):
        self.id = call_id
        self.pid = pid
        self.answers = answers
        self.outputs = (out, err)
        self.reaped = False
        self.deadline = None if limit_ms is None else time.monotonic() + limit_ms / 1000 + _GRACE_SECONDS
        self.reader = FrameReader(answers, max_bytes + 1024)
        self._kinds = {out: STDOUT, err: STDERR}
        self._printed = 0
        for fd in (answers, out, err):
            os.set_blocking(fd, False)

    @property
    def floods(self):
        return self._printed > _FLOOD

    def relay(self, fd, buffer, send):
        """Passes one piece of output on. False at its end."""
        return self._pass_on(fd, buffer, send) != 0

    def drain(self, fd, buffer, send):
        """Passes on what lies in the pipe; a process left behind may go on printing, so not without end."""
        until = self._printed + _LAST_WORDS
        while self._printed < until and (self._pass_on(fd, buffer, send) or 0) > 0:
            pass

    def _pass_on(self, fd, buffer, send):
        """Bytes read; 0 at the end; None when there is nothing yet."""
        try:
            count = os.readv(fd, [buffer])
        except BlockingIOError:
            return None
        left = _MAX_RELAYED - self._printed
        self._printed += count
        if count > 0 and left > 0:
            send(self.id, self._kinds[fd], memoryview(buffer)[: min(count, left)])
        buffer[:count] = bytes(count)
        return count
