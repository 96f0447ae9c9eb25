"""The zygote: has the tools' modules imported once and forks for each call, so that no call leaves anything behind.

A call's process has pipes of its own and no way to the gateway. What it prints and what it answers comes through
the zygote, which stamps it with the call's id: output first, then the answer, then nothing.
"""

import gc
import json
import os
import select
import signal
import time

from unified_tools import call_process, descendants, process_limits, scratch
from unified_tools.channel import ANSWER, ENDED, LEAVING, PARTIAL, PROGRESS, FrameTooLarge, split, wipe
from unified_tools.running_call import RunningCall

# A call that sends without end must not keep the others, and the gateway's orders, from being heard.
_FRAMES_A_TURN = 16
# What fits into a pipe, and then the process is gone.
_LAST_FRAMES = 1 << 14
_DIED = "the process that ran the call"


class Zygote:
    def __init__(self, channel, management, options):
        self._channel = channel
        self._management = management
        self._options = options
        self._running = {}
        self._handlers = {}
        self._poll = select.poll()
        # The first process of its own pid namespace.
        self._is_first = options["confined"] and os.getpid() == 1
        # Only where no signal reaches anybody else may the zygote take everything else for its own.
        self._alone = self._is_first or (options["confined"] and process_limits.keep_signals_inside())
        self._processes = self._most_processes()
        self._scratch = scratch.OwnMounts() if self._is_first else scratch.StartFolder()
        self._buffer = bytearray(1 << 16)  # empty again after each use
        self._wake, self._wake_writer = os.pipe()
        self._hung_up = False

    def serve(self):
        process_limits.adopt_orphans()
        for fd in (self._wake, self._wake_writer):
            os.set_blocking(fd, False)
        self._listen(self._wake, self._reap)
        self._listen(self._channel.requests, self._receive)
        self._watch_children()
        while self._running or not self._hung_up:
            for fd, _ in self._poll.poll(self._poll_timeout_ms()):
                handler = self._handlers.get(fd)
                if handler is not None:
                    handler()
            self._end_late_calls()

    def _most_processes(self):
        """Of a call; None without a limit. Elsewhere than in a namespace, all processes of the user count."""
        if self._is_first:
            return self._options["max_processes"]
        most = process_limits.make_room() if self._options["confined"] else None
        return None if most is None else max(1, most - self._options["spare_processes"])

    def _watch_children(self):
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake_writer, warn_on_full_buffer=False)

    def _listen(self, fd, handler):
        self._handlers[fd] = handler
        self._poll.register(fd, select.POLLIN)

    def _ignore(self, fd):
        if self._handlers.pop(fd, None) is not None:
            self._poll.unregister(fd)

    def _receive(self):
        try:
            frame = self._channel.reader.next()
        except EOFError:
            self._ignore(self._channel.requests)
            self._hung_up = True
            return
        if frame is None:
            return
        text, body_at = split(frame)
        head = json.loads(text)
        call_id = head["id"].encode("ascii")
        operation = head["op"]
        if operation in ("call", "code"):
            self._start(call_id, head, frame, body_at)
        elif operation == "cancel":
            call = self._running.get(call_id)
            if call is not None:
                self._end(call, "cancelled", "")
        else:
            self._channel.send(call_id, ANSWER, self._management.answer(head))
            gc.collect()
            gc.freeze()  # what modules made is shared with every call's process and never looked at again
        wipe(frame)

    def _start(self, call_id, head, frame, body_at):
        pipes = [os.pipe() for _ in range(3)]
        parent = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:
            for fd in sum(pipes, ()):
                os.close(fd)
            return self._tell_end(call_id, "no_process", error.strerror or "fork failed")
        if pid == 0:
            answer_fd = call_process.enter(pipes, parent, self._forget_all, self._walls())
            call_process.run(answer_fd, head, frame, body_at, self._management, self._options, self._processes)
        for _, write_end in pipes:
            os.close(write_end)
        answers, out, err = (read_end for read_end, _ in pipes)
        call = RunningCall(call_id, pid, answers, out, err, head["limit_ms"], self._options["max_frame_bytes"])
        self._running[call_id] = call
        self._listen(answers, lambda: self._read_answers(call))
        for fd in call.outputs:
            self._listen(fd, lambda fd=fd: self._relay_output(call, fd))

    def _walls(self):
        """What keeps a call's process from the zygote and from other calls."""
        if self._is_first:
            return "session"
        return "signals" if self._alone else None

    def _forget_all(self):
        """In a call's process: nothing of the zygote's descriptors and of other calls' data stays."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._channel.reader.wipe()
        for call in self._running.values():
            call.reader.wipe()
        for fd in self._handlers.keys() - {self._channel.requests}:
            os.close(fd)
        os.close(self._wake_writer)

    def _read_answers(self, call, most=_FRAMES_A_TURN):
        """Passes on what the call's process sends, in turn with others. True when that was the end of the call."""
        for _ in range(most):
            try:
                frame = call.reader.next()
            except EOFError:
                return self._end(call, "died", f"{_DIED} closed its way to answer")
            except FrameTooLarge:
                return self._end(call, "output_too_large", "")
            if frame is None:
                return False
            kind = bytes(frame[:1])
            del frame[:1]
            if kind == ANSWER:
                return self._finish(call, ANSWER, frame)
            if kind not in (PARTIAL, PROGRESS):
                return self._end(call, "protocol_violation", "")
            self._channel.send(call.id, kind, frame)
            wipe(frame)
        return False

    def _relay_output(self, call, fd):
        more = call.relay(fd, self._buffer, self._channel.send)
        if not more:
            self._ignore(fd)
        if call.floods:
            self._end(call, "flooded", "")

    def _reap(self):
        try:
            os.read(self._wake, 4096)
        except BlockingIOError:
            pass
        by_pid = {call.pid: call for call in self._running.values()}
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            call = by_pid.get(pid)
            if call is not None:
                call.reaped = True
                # Its answer may still lie in the pipe.
                if not self._read_answers(call, _LAST_FRAMES):
                    self._end(call, "died", f"{_DIED} ended with {_how(status)}")

    def _poll_timeout_ms(self):
        """Milliseconds until the next call is late; None without one."""
        deadlines = [call.deadline for call in self._running.values() if call.deadline is not None]
        if not deadlines:
            return None
        return max(0, int((min(deadlines) - time.monotonic()) * 1000) + 1)

    def _end_late_calls(self):
        now = time.monotonic()
        for call in list(self._running.values()):
            if call.deadline is not None and call.deadline <= now:
                self._end(call, "timeout", "")

    def _end(self, call, reason, detail):
        return self._finish(call, ENDED, json.dumps({"reason": reason, "detail": detail}).encode())

    def _tell_end(self, call_id, reason, detail):
        self._channel.send(call_id, ENDED, json.dumps({"reason": reason, "detail": detail}).encode())

    def _finish(self, call, kind, content):
        """What was printed, the end of every process of the call, and only then the answer."""
        if self._running.pop(call.id, None) is None:
            return True
        for fd in call.outputs:
            call.drain(fd, self._buffer, self._channel.send)
        for fd in (call.answers, *call.outputs):
            self._ignore(fd)
            os.close(fd)
        descendants.kill(call, self._is_first)
        clean = self._sweep()
        if not clean:
            # Ahead of the answer, so that the gateway gives this worker nothing more in the moment it is free.
            self._channel.send(call.id, LEAVING)
        self._channel.send(call.id, kind, content)
        if isinstance(content, bytearray):
            wipe(content)
        if not clean:
            os._exit(3)  # a fresh zygote is the surest way to be rid of what the call has left
        return True

    def _sweep(self):
        if self._alone and not self._running:
            descendants.kill_everything()
            return self._scratch.clean()
        if self._alone or not self._running:
            descendants.kill_orphans(self._running.values())
        return True


def _how(status):
    if os.WIFSIGNALED(status):
        return f"signal {os.WTERMSIG(status)}"
    return f"exit code {os.WEXITSTATUS(status)}"
