"""Calls in the worker's own process, for functions that keep nothing: the fastest way, with nothing cleaned up.

A plain function runs alone. Asynchronous ones share one event loop, so that clients that belong to a loop can be
kept between calls; while they wait, the worker reads its channel.
"""

import json

from unified_tools import answers, process_limits
from unified_tools.channel import ANSWER, ENDED, split
from unified_tools.functions import NotUsable
from unified_tools.invocation import Invocation
from unified_tools.output import CallOutput, current_call, flush_output, tell_calls_apart

_CANCELLED = b'{"reason":"cancelled","detail":""}'


class ReuseWorker:
    def __init__(self, channel, management, options):
        process_limits.keep_room()
        self._channel = channel
        self._management = management
        self._max_bytes = options["max_frame_bytes"]
        self._loop = None
        self._tasks = {}
        self._idle_or_asked = None

    def serve(self):
        tell_calls_apart()
        while True:
            if self._tasks and not self._run_until_asked():
                continue
            frame = self._channel.receive()
            if frame is None:
                break
            text, body_at = split(frame)
            self._handle(json.loads(text), frame[body_at:])
        while self._tasks:
            self._event_loop().run_until_complete(self._until_idle())

    def _handle(self, head, body):
        call_id = head["id"].encode("ascii")
        if head["op"] == "cancel":
            task = self._tasks.get(call_id)
            if task is not None:
                task.cancel()
        elif head["op"] == "call":
            self._call(call_id, head, json.loads(body))
        else:
            self._channel.send(call_id, ANSWER, self._management.answer(head))

    def _call(self, call_id, head, body):
        output = CallOutput(call_id, self._channel.send)
        try:
            function = self._management.functions.find(head["module"], head["function"])
        except NotUsable as problem:
            return self._answer(call_id, output, answers.failure("PERMANENT", problem.message, reason=problem.reason))

        def send(kind, content):
            self._channel.send(call_id, kind, content)

        invocation = Invocation(function, body, send, self._max_bytes)
        token = current_call.set(output)
        try:
            if function.is_async:
                self._spawn(call_id, output, invocation)
            else:
                self._answer(call_id, output, invocation.run(self._wait_for))
        finally:
            current_call.reset(token)

    def _answer(self, call_id, output, content):
        flush_output()
        output.flush()
        self._channel.send(call_id, ANSWER, content)

    def _spawn(self, call_id, output, invocation):
        task = self._event_loop().create_task(invocation.run_async())
        self._tasks[call_id] = task

        def done(finished):
            del self._tasks[call_id]
            if finished.cancelled():
                output.flush()
                self._channel.send(call_id, ENDED, _CANCELLED)
            else:
                self._answer(call_id, output, finished.result())
            self._wake(not self._tasks)

        task.add_done_callback(done)

    def _run_until_asked(self):
        """Runs the tasks until the gateway asks for something. False when they are done before that."""
        loop = self._event_loop()
        loop.add_reader(self._channel.requests, self._wake)
        try:
            loop.run_until_complete(self._until_idle())
        finally:
            loop.remove_reader(self._channel.requests)
        return bool(self._tasks)

    async def _until_idle(self):
        """Ends when something came in, or when no task is left."""
        self._idle_or_asked = self._event_loop().create_future()
        await self._idle_or_asked

    def _wake(self, now=True):
        if now and self._idle_or_asked is not None and not self._idle_or_asked.done():
            self._idle_or_asked.set_result(None)

    def _wait_for(self, awaitable):
        return self._event_loop().run_until_complete(awaitable)

    def _event_loop(self):
        if self._loop is None:
            import asyncio

            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
        return self._loop
