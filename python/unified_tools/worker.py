"""The worker: answers the gateway's requests, one at a time, until the gateway closes the channel.

Started as `python3 -I -B -u worker.py FOLDER...`; the folders are searched for tool modules after Python's own.
Requests come in on descriptor 3 and answers go out on 4. What tool code prints goes to 1 and 2, which the
gateway reads as log lines only.
"""

import faulthandler
import json
import os
import resource
import sys

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from unified_tools import ToolError, answers  # noqa: E402  (the package is found by the line above)
from unified_tools.channel import Channel  # noqa: E402
from unified_tools.functions import Functions, NotUsable  # noqa: E402
from unified_tools.lifeline import end_with_gateway  # noqa: E402


class Worker:
    def __init__(self, channel, folders):
        self._channel = channel
        self._functions = Functions(folders)
        self._max_bytes = 1 << 20
        self._loop = None
        self._operations = {"hello": self._hello, "check": self._check, "call": self._call}

    def serve(self):
        receive, send = self._channel.receive, self._channel.send
        while True:
            frame = receive()
            if frame is None:
                return
            request = json.loads(frame)
            content = self._operations[request["op"]](request["id"], request)
            flush_output()
            send(content)

    def _hello(self, call_id, request):
        self._max_bytes = request["max_frame_bytes"]
        version = ".".join(str(part) for part in sys.version_info[:3])
        return answers.success(call_id, version, "hello", self._max_bytes)

    def _check(self, call_id, request):
        try:
            function = self._functions.find(request["module"], request["function"])
        except NotUsable as problem:
            return answers.failure(call_id, "PERMANENT", problem.message, reason=problem.reason)
        return answers.success(call_id, function.describe(), "check", self._max_bytes)

    def _call(self, call_id, request):
        try:
            function = self._functions.find(request["module"], request["function"])
        except NotUsable as problem:
            return answers.failure(call_id, "PERMANENT", problem.message, reason=problem.reason)
        arguments = request["arguments"]
        mismatch = function.mismatch(arguments)
        if mismatch is not None:
            return answers.failure(call_id, "PERMANENT", mismatch, reason="ARGUMENT_MISMATCH")
        if function.takes_context:
            arguments["context"] = request["context"]
        try:
            data = function.call(**arguments)
            if function.is_async or hasattr(data, "__await__"):
                data = self._wait_for(data)
        except ToolError as error:
            return answers.tool_error(call_id, error)
        except BaseException as error:  # SystemExit and KeyboardInterrupt must not end the worker
            return answers.raised(call_id, error)
        return answers.success(call_id, data, function.name, self._max_bytes)

    def _wait_for(self, awaitable):
        """One event loop for all calls, so that clients that belong to a loop can be kept between them."""
        if self._loop is None:
            import asyncio  # 40 ms that only asynchronous tools pay

            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
        return self._loop.run_until_complete(awaitable)


def flush_output():
    """What was printed must be on its way before the answer is."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # closed or replaced by tool code: nothing to flush
            pass


def main(folders):
    channel = Channel(3, 4)
    end_with_gateway(channel.lifeline)
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.path.extend(folders)
    try:
        Worker(channel, folders).serve()
    except BaseException:
        sys.excepthook(*sys.exc_info())
        flush_output()
        os._exit(1)
    # Not sys.exit: threads and exit handlers of tool code do not hold the end up.
    flush_output()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
