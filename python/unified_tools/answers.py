"""Writes answers as JSON that the gateway accepts, whatever a function returned."""

import json
import traceback

# A result may nest this deep; the gateway takes a deeper one for a breach of the protocol.
MAX_DEPTH = 64
_MAX_TEXT = 4000
_MAX_TRACEBACK = 16000
_BRACES_TO_BRACKETS = str.maketrans("{}", "[]")

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


class NotSendable(Exception):
    """A result that cannot be passed on, with the error that stands for it."""

    def __init__(self, type, message, reason=None):
        super().__init__(message)
        self.type = type
        self.message = message
        self.reason = reason


def encoded(data, function_name, max_bytes):
    """The bytes of a result's JSON. Raises NotSendable."""
    try:
        text = _encode(data)
        content = text.encode("utf-8")
    except BaseException as error:  # objects of the tool take part in this
        why = f"{type(error).__name__}: {text_of(error)}"
        raise NotSendable("OUTPUT_INVALID", f"The result of {function_name} is not JSON: {why}", "NOT_JSON") from None
    if len(content) > max_bytes:
        raise NotSendable(
            "OUTPUT_TOO_LARGE", f"The result of {function_name} is larger than the limit of {max_bytes} bytes."
        )
    if text.count("[") + text.count("{") > MAX_DEPTH and _too_deep(text):
        message = f"The result of {function_name} is nested more than {MAX_DEPTH} levels deep."
        raise NotSendable("OUTPUT_INVALID", message, "TOO_DEEP")
    return content


def success(data, function_name, max_bytes):
    """The answer's bytes: the result, or the typed error that stands for a result that cannot be sent."""
    try:
        return b'{"ok":true,"data":' + encoded(data, function_name, max_bytes) + b"}"
    except NotSendable as problem:
        return not_sendable(problem)


def not_sendable(problem):
    return failure(problem.type, problem.message, reason=problem.reason)


def failure(type, message, *, reason=None, retryable=False, exception=None, trace=None):
    error = {
        "type": type,
        "reason": reason,
        "message": _sendable(message, _MAX_TEXT),
        "retryable": retryable,
        "exception": exception,
        "traceback": trace,
    }
    return _encode({"ok": False, "error": error}).encode("utf-8")


def raised(error):
    """An exception of the tool's own code. The traceback is for the gateway's log."""
    try:
        trace = "".join(traceback.format_exception(type(error), error, error.__traceback__, limit=-30))
    except BaseException:  # an exception whose own __str__ fails
        trace = ""
    return failure(
        "PERMANENT",
        text_of(error),
        reason="EXCEPTION",
        exception=_sendable(type(error).__name__, 200),
        trace=_sendable(_last_lines(trace), _MAX_TRACEBACK),
    )


def _last_lines(trace):
    """Whole lines only: the gateway would not know the second half of a secret."""
    if len(trace) <= _MAX_TRACEBACK:
        return trace
    return trace[-_MAX_TRACEBACK:].partition("\n")[2]


def tool_error(error):
    """A ToolError: the tool's own report."""
    return failure(_sendable(error.type, 100), error.message, retryable=error.retryable is True)


def text_of(error):
    try:
        return str(error)
    except BaseException:
        return "(its text cannot be read)"


def _sendable(value, limit):
    """Text that UTF-8 can carry, of bounded length."""
    try:
        text = value if isinstance(value, str) else str(value)
    except BaseException:
        text = "(its text cannot be read)"
    return text[:limit].encode("utf-8", "replace").decode("utf-8")


def _too_deep(text):
    """Peels the innermost brackets off, a level at a time."""
    brackets = "".join(_brackets_of(text)).translate(_BRACES_TO_BRACKETS)
    for _ in range(MAX_DEPTH):
        brackets = brackets.replace("[]", "")
    return brackets != ""


def _brackets_of(text):
    import re

    without_strings = re.sub(r'"(?:[^"\\]|\\.)*"', "", text)
    return re.findall(r"[\[\]{}]+", without_strings)
