"""What a dialog is made of: turns of a model, its calls, and limits."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Literal, Mapping, Optional, Sequence

from .errors import ConfirmationRequiredError
from .gateway_types import Envelope


@dataclass(frozen=True)
class ModelCall:
    """A call that a model asks for. `arguments` is None where they cannot be read: `problem` says why."""

    id: str
    name: str
    arguments: Optional[Dict[str, Any]]
    problem: Optional[str] = None


@dataclass(frozen=True)
class Usage:
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens)


@dataclass(frozen=True)
class ModelTurn:
    """`messages` are to be appended, as the provider wrote them."""

    text: str = ""
    calls: Sequence[ModelCall] = ()
    messages: Optional[Sequence[Any]] = None
    usage: Usage = Usage()


@dataclass(frozen=True)
class AnsweredCall:
    call: ModelCall
    envelope: Envelope


@dataclass(frozen=True)
class GenerateRequest:
    """`tools` are in the form of the model's dialect; `timeout` is what is left of the loop's time, in seconds."""

    messages: List[Any]
    tools: Any
    timeout: Optional[float]


@dataclass(frozen=True)
class Dialect:
    """How a provider writes a model's turn, and takes the answers of tools."""

    format: Literal["openai", "openai-responses", "anthropic", "gemini"]
    read: Callable[[Any], ModelTurn]
    results: Callable[[Sequence[AnsweredCall]], List[Any]]


@dataclass(frozen=True)
class Model:
    """`create` asks the provider; its client may be one that awaits."""

    dialect: Dialect
    create: Callable[[GenerateRequest], Any]


@dataclass(frozen=True)
class Limits:
    turns: int = 10
    """How often the model is asked."""
    tokens: float = float("inf")
    """Tokens that the model says it has used, of its input and output together."""
    time: float = float("inf")
    """Seconds. What blocks is asked to keep them, and ended between two steps."""
    calls: float = float("inf")
    """Calls of tools in all."""


StopReason = Literal["answered", "turn_limit", "token_limit", "time_limit", "call_limit", "approval_required"]


@dataclass(frozen=True)
class WantedApproval:
    call: ModelCall
    asked: ConfirmationRequiredError


@dataclass
class RunResult:
    """No call in `messages` is left without an answer: another run may go on from here."""

    reason: StopReason
    text: str
    messages: List[Any]
    turns: int
    calls: int
    usage: Usage
    approvals: List[WantedApproval] = field(default_factory=list)
    """With `approval_required`: what a human has to approve. Each is redeemed by its token."""


def refused(type: str, reason: str, message: str, may_have_run: bool = False) -> Envelope:
    """An answer in the gateway's own form, to what never got there."""
    refusal: Any = {
        "ok": False,
        "error": {
            "type": type,
            "message": message,
            "reason": reason,
            "retryable": False,
            "partial_side_effects": may_have_run,
            "origin": "gateway" if may_have_run else "caller",
            "retry_after_ms": None,
            "details": {},
        },
        "meta": {
            "schema_version": "1.0.0",
            "call_id": "",
            "tool": "",
            "tool_version": "",
            "executor": "",
            "duration_ms": 0,
            "attempts": 0,
            "cached": False,
            "replayed": False,
            "fallback": False,
            "degraded": [],
            "registry_version": "",
            "trace_id": "",
        },
    }
    envelope: Envelope = refusal
    return envelope


def text_of_answer(envelope: Envelope) -> str:
    """What a model reads of an answer. A token that redeems an approval is no part of it."""
    if envelope["ok"]:
        data = envelope["data"]
        return data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    error = envelope["error"]
    told: Dict[str, Any] = {name: error[name] for name in ("type", "reason", "message", "retryable")}
    for name in ("violations", "approval_id"):
        if name in error["details"]:
            told[name] = error["details"][name]
    return json.dumps({"error": told}, ensure_ascii=False)


def arguments_from_text(text: Any) -> Dict[str, Any]:
    """Fields of a ModelCall, for arguments as a text of JSON."""
    if not isinstance(text, str) or not text.strip():
        return {"arguments": {}}
    try:
        return arguments_from_value(json.loads(text))
    except (ValueError, RecursionError) as error:
        return {"arguments": None, "problem": f"The arguments are not JSON: {error}"}


def not_json(arguments: Mapping[str, Any]) -> Optional[str]:
    """What keeps them from being sent: NaN, 1e999, what goes too deep."""
    try:
        json.dumps(arguments, allow_nan=False)
    except (ValueError, TypeError, RecursionError) as error:
        return f"The arguments are not JSON: {error}"
    return None


def arguments_from_value(value: Any) -> Dict[str, Any]:
    if value is None:
        return {"arguments": {}}
    if isinstance(value, Mapping):
        return {"arguments": dict(value)}
    return {"arguments": None, "problem": "The arguments are not a JSON object."}
