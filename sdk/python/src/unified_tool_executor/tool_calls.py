"""The gateway's end of a tool: a call that came over HTTP, judged, run and answered."""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import inspect
import json
import re
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, List, Literal, Mapping, Optional, Tuple, Union

from unified_tools.tool import MARK  # type: ignore[import-untyped]

from .declare import ToolError, ToolFunction, tool_name

MAX_BODY_BYTES = 1024 * 1024
_STATUS = {
    "NOT_FOUND": 404,
    "CONFLICT": 409,
    "PERMISSION_DENIED": 403,
    "RATE_LIMIT": 429,
    "TRANSIENT": 503,
    "UNAVAILABLE": 503,
}
_PATH = re.compile(r"/tools/([^/?#]+)$")
OnError = Callable[[BaseException, str], Any]


@dataclass(frozen=True)
class CallTold:
    """What comes with a call: a tool that has a parameter `context` gets it there."""

    timeout: Optional[float]
    """Seconds that the gateway waits; None where it does not say so."""
    traceparent: Optional[str]


@dataclass(frozen=True)
class Answer:
    status: int
    content_type: str
    body: bytes


@dataclass(frozen=True)
class Asked:
    """A call that may run."""

    name: str
    function: ToolFunction
    arguments: Dict[str, Any]
    told: CallTold


class ToolCalls:
    def __init__(
        self, functions: Iterable[ToolFunction], secret: Union[str, Literal[False]], on_error: Optional[OnError] = None
    ) -> None:
        """`secret`: what the gateway's connection sends as its bearer token; False where something before this asks for it."""
        if secret is not False and len(secret) < 16:
            raise ValueError("secret: expected at least 16 characters")
        self._wanted = None if secret is False else _digest(f"Bearer {secret}")
        self._on_error = on_error
        self._by_name: Dict[str, ToolFunction] = {}
        for function in functions:
            name = tool_name(function)
            if name in self._by_name:
                raise ValueError(f"two tools have the name {name}")
            self._by_name[name] = function

    def read(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Union[Asked, Answer]:
        """`headers`: names in lower case."""
        if self._wanted is not None and not hmac.compare_digest(_digest(headers.get("authorization", "")), self._wanted):
            return refusal(401, "The request does not show the secret of these tools.")
        found = _PATH.search(path)
        name = found.group(1) if found else ""
        function = self._by_name.get(name)
        if function is None:
            return refusal(404, "There is no such tool here.")
        if method != "POST":
            return refusal(405, "A tool is called by POST.")
        if len(body) > MAX_BODY_BYTES:
            return refusal(413, f"The arguments are longer than {MAX_BODY_BYTES} bytes.")
        try:
            arguments = json.loads(body or b"{}")
        except (ValueError, RecursionError):
            return refusal(400, "The body is no JSON.")
        if not isinstance(arguments, dict):
            return refusal(400, "The arguments are no JSON object.")
        return self._fitting(Asked(name, function, arguments, _told(headers)))

    def answered(self, result: Any) -> Answer:
        return Answer(200, "application/json", json.dumps(result, default=_plain, allow_nan=False).encode())

    def failed(self, error: BaseException, name: str) -> Answer:
        """What a tool means to say is told; anything else is a failure without words."""
        if isinstance(error, ToolError):
            return refusal(_STATUS.get(error.type, 422), error.message)
        if self._on_error is not None:
            self._on_error(error, name)
        return refusal(500, "The tool failed.")

    def _fitting(self, asked: Asked) -> Union[Asked, Answer]:
        original = getattr(asked.function, MARK)[0]
        signature = inspect.signature(original)
        given = dict(asked.arguments)
        if "context" in signature.parameters:
            given["context"] = asked.told
        try:
            signature.bind(**given)
        except TypeError as error:
            return refusal(400, f"The arguments do not fit: {error}.")
        return dataclasses.replace(asked, arguments=given)


def refusal(status: int, detail: str) -> Answer:
    body = {"title": "The tool did not succeed", "status": status, "detail": detail}
    return Answer(status, "application/problem+json", json.dumps(body).encode())


def _told(headers: Mapping[str, str]) -> CallTold:
    left = headers.get("x-request-timeout-ms", "")
    timeout = int(left) / 1000 if re.fullmatch(r"[0-9]{1,10}", left) else None
    return CallTold(timeout, headers.get("traceparent"))


def _plain(value: Any) -> Any:
    """Values that JSON has not, as hints write them."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, (set, frozenset)):
        return list(value)
    for written in ("model_dump", "isoformat"):
        if hasattr(value, written):
            return getattr(value, written)()
    if hasattr(value, "value"):
        return value.value
    if type(value).__name__ == "UUID":
        return str(value)
    raise TypeError(f"a tool gave a {type(value).__name__}, which JSON has not")


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def pairs(headers: Iterable[Tuple[bytes, bytes]]) -> Dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}


__all__: List[str] = ["Answer", "Asked", "CallTold", "ToolCalls"]
