"""One call of a function: names checked, results of every shape brought to one answer, partial results on the way."""

import inspect

from unified_tools import ToolError, answers
from unified_tools.channel import PARTIAL, PROGRESS

_MAX_PROGRESS = 1000
# More than twice what the gateway shows of it, once the secrets of the call have been taken out.
_MAX_MESSAGE = 1001


class Context(dict):
    """Who is calling, as a dict; and the way to say how far the work has come."""

    def __init__(self, values, send):
        super().__init__(values)
        self._send = send
        self._left = _MAX_PROGRESS

    def progress(self, fraction=None, message=None):
        """`fraction` from 0 to 1, `message` for people. Too many of them are dropped in silence."""
        self._left -= 1
        if self._left < 0:
            return
        said = {}
        if fraction is not None:
            said["fraction"] = min(1.0, max(0.0, float(fraction)))
        if message is not None:
            said["message"] = str(message)[:_MAX_MESSAGE]
        self._send(PROGRESS, answers.encoded(said, "context.progress", 8 * _MAX_MESSAGE))


class Invocation:
    def __init__(self, function, body, send, max_bytes):
        self._function = function
        self._body = body
        self._send = send
        self._max_bytes = max_bytes
        self._partial_bytes = 0

    def run(self, wait_for):
        """The answer; `wait_for` runs a coroutine to its end."""
        try:
            value = self._call()
            if _needs_loop(value):
                value = wait_for(self._awaited(value))
            elif inspect.isgenerator(value):
                value = self._consumed(value)
        except BaseException as error:  # SystemExit and KeyboardInterrupt are no more than exceptions
            return self._failure(error)
        return answers.success(value, self._function.name, self._max_bytes)

    async def run_async(self):
        """The same on an event loop that others share. Being cancelled is not an answer."""
        import asyncio

        try:
            value = await self._awaited(self._call())
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            return self._failure(error)
        return answers.success(value, self._function.name, self._max_bytes)

    def _call(self):
        function = self._function
        arguments = self._body["arguments"]
        mismatch = function.mismatch(arguments)
        if mismatch is not None:
            raise _Mismatch(mismatch)
        if function.takes_context:
            arguments["context"] = Context(self._body["context"], self._send)
        return function.call(**arguments)

    async def _awaited(self, value):
        if not inspect.isasyncgen(value):
            return await value
        items = []
        async for item in value:
            items.append(item)
            self._partial(item)
        return items

    def _consumed(self, generator):
        """What the generator returns, or everything that it gave when it returns nothing."""
        items = []
        while True:
            try:
                item = next(generator)
            except StopIteration as end:
                return items if end.value is None else end.value
            items.append(item)
            self._partial(item)

    def _partial(self, item):
        content = answers.encoded(item, self._function.name, self._max_bytes - self._partial_bytes)
        self._partial_bytes += len(content) + 1
        self._send(PARTIAL, content)

    def _failure(self, error):
        if isinstance(error, _Mismatch):
            return answers.failure("PERMANENT", str(error), reason="ARGUMENT_MISMATCH")
        if isinstance(error, answers.NotSendable):
            return answers.not_sendable(error)
        if isinstance(error, ToolError):
            return answers.tool_error(error)
        return answers.raised(error)


class _Mismatch(Exception):
    pass


def _needs_loop(value):
    return hasattr(value, "__await__") or inspect.isasyncgen(value)
