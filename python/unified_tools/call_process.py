"""What a process that was forked for one call does: forgets the zygote, lives within limits, answers, ends."""

import fcntl
import json
import os
import signal
import sys

from unified_tools import answers, process_limits, snippet
from unified_tools.channel import ANSWER, FrameWriter, wipe
from unified_tools.functions import NotUsable
from unified_tools.invocation import Invocation
from unified_tools.output import flush_output

# As high as the channel's: out of the way of what tool code opens and closes by number.
_FIRST_FD = 50
_UNLIMITED_SECONDS = 3600


def enter(pipes, parent, forget_zygote, walls):
    """Returns the descriptor to answer on. Never raises: a process that cannot be made safe ends."""
    try:
        for (read_end, _), own in zip(pipes, (None, 1, 2)):
            os.close(read_end)
            if own is not None:
                os.dup2(pipes[own][1], own)
                os.close(pipes[own][1])
        forget_zygote()
        process_limits.die_with_parent()
        if os.getppid() != parent:
            os._exit(1)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if walls == "session":
            os.setsid()
            process_limits.keep_signals_inside()  # where the kernel can: calls beside it are of the same tenant
        elif walls == "signals" and not process_limits.keep_signals_inside():
            os._exit(1)
        answer_fd = fcntl.fcntl(pipes[0][1], fcntl.F_DUPFD_CLOEXEC, _FIRST_FD)
        os.close(pipes[0][1])
        return answer_fd
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(1)


def run(answer_fd, head, frame, body_at, management, options, processes):
    """Never returns."""
    try:
        write = FrameWriter(answer_fd).write
        body = json.loads(frame[body_at:])
        wipe(frame)
        seconds = _UNLIMITED_SECONDS if head["limit_ms"] is None else head["limit_ms"] / 1000 + 1
        process_limits.limit_call(seconds, options["memory_bytes"], processes)
        answer = _answer(head, body, write, management, options)
        flush_output()
        write(ANSWER, answer)
        os._exit(0)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        flush_output()
    finally:
        os._exit(1)


def _answer(head, body, send, management, options):
    if head["op"] == "code":
        return snippet.run(body, options["max_frame_bytes"])
    try:
        function = management.functions.find(head["module"], head["function"])
    except NotUsable as problem:
        return answers.failure("PERMANENT", problem.message, reason=problem.reason)
    return Invocation(function, body, send, options["max_frame_bytes"]).run(_wait_for)


def _wait_for(awaitable):
    import asyncio  # the zygote has imported it where a tool needs it

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    return loop.run_until_complete(awaitable)
