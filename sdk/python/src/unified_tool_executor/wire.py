"""Paths, headers and answers on the wire."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional, Union, cast
from urllib.parse import quote

from .errors import GatewayConnectionError, GatewayError, error_of
from .gateway_types import Envelope


@dataclass(frozen=True)
class Incoming:
    status: int
    headers: Mapping[str, str]
    body: Any


def path_of(template: str, **parameters: Any) -> str:
    """Path of a route with its parameters in place. "." and ".." would name another route."""

    def filled(found: "re.Match[str]") -> str:
        value = str(parameters[found.group(1)])
        if value in ("", ".", ".."):
            raise ValueError(f"{found.group(1)}: {value!r} names nothing")
        return quote(value, safe="", errors="replace")

    return re.sub(r"\{(\w+)\}", filled, template)


def query_of(parameters: Mapping[str, Any]) -> Dict[str, str]:
    written = {True: "true", False: "false"}
    return {
        name: written[value] if isinstance(value, bool) else str(value)
        for name, value in parameters.items()
        if value is not None
    }


def retry_after_of(headers: Mapping[str, str]) -> Optional[float]:
    text = headers.get("retry-after", "").strip()
    return int(text) * 1000.0 if re.fullmatch(r"[0-9]{1,6}", text) else None


def is_envelope(body: Any) -> bool:
    return isinstance(body, dict) and "ok" in body and "meta" in body


def with_approval_url(envelope: Envelope, base: str) -> Envelope:
    """The envelope with `approval_url` behind the gateway's address: the gateway says it from its own root on."""
    said: Any = envelope
    # What a tool says of approvals is its own.
    if not said["ok"] and said["error"]["type"] != "CONFIRMATION_REQUIRED":
        return envelope
    holder = said["meta"] if said["ok"] else said["error"]["details"]
    url = holder.get("approval_url")
    if not isinstance(url, str) or not url.startswith("/") or url.startswith("//"):
        return envelope
    told = {**holder, "approval_url": base + url}
    if said["ok"]:
        return cast(Envelope, {**said, "meta": told})
    return cast(Envelope, {**said, "error": {**said["error"], "details": told}})


def problem_of(answer: Incoming) -> Union[GatewayError, GatewayConnectionError]:
    """What answers a management request with an error, as RFC 9457 has it; otherwise something between has."""
    body, status = answer.body, answer.status
    retry_after_ms = retry_after_of(answer.headers)
    if not (isinstance(body, dict) and "code" in body and "detail" in body):
        message = f"HTTP {status} without an answer of the gateway"
        return GatewayConnectionError(message, status=status, retry_after_ms=retry_after_ms)
    known = ("type", "title", "status", "detail", "instance", "code", "reason", "retryable")
    return error_of(
        body["code"],
        body["detail"] or body.get("title", ""),
        reason=body.get("reason", body["code"]),
        retryable=body.get("retryable", False),
        origin="gateway" if status >= 500 or status == 429 else "caller",
        retry_after_ms=retry_after_ms,
        details={name: value for name, value in body.items() if name not in known},
        status=status,
    )
