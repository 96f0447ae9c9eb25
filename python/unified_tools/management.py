"""What the gateway asks of a worker besides calls: what a function takes, and how large the worker has grown."""

from unified_tools import answers, process_limits
from unified_tools.functions import Functions, NotUsable

_MOST = 1 << 20


class Management:
    def __init__(self, functions: Functions):
        self.functions = functions
        self._operations = {"check": self._check, "health": self._health}

    def answer(self, head):
        return self._operations[head["op"]](head)

    def _check(self, head):
        try:
            function = self.functions.find(head["module"], head["function"])
        except NotUsable as problem:
            return answers.failure("PERMANENT", problem.message, reason=problem.reason)
        if function.is_async:
            import asyncio  # noqa: F401  (40 ms that no call shall pay)
        described = {"signature": function.describe(), "files": self.functions.files()}
        return answers.success(described, "check", _MOST)

    def _health(self, _head):
        return answers.success({"resident_bytes": process_limits.resident_bytes()}, "health", _MOST)
