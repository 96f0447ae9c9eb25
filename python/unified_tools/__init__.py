"""What a Python tool may import from the gateway. Standard library only, Python 3.9 and newer."""

from unified_tools.tool import tool

__all__ = ["ToolError", "tool"]


class ToolError(Exception):
    """Raise it to report an error of a known type instead of an exception.

    `type` is one of the gateway's error types (NOT_FOUND, CONFLICT, RATE_LIMIT, TRANSIENT, ...); a word the
    gateway does not know is reported as PERMANENT. The message is shown to the caller. `retryable` says
    whether the same call may succeed later.
    """

    def __init__(self, type, message, retryable=False):
        super().__init__(message)
        self.type = type
        self.message = message
        self.retryable = retryable
