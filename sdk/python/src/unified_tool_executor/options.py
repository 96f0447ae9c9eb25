"""What a caller says of calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, Literal, Optional, Union

from typing_extensions import NotRequired, TypedDict

from .errors import GatewayConnectionError
from .gateway_types import Envelope
from .retry import RetryPolicy


class CallContext(TypedDict):
    """What comes with a call: for whom, in which session and mode."""

    session_id: NotRequired[str]
    agent_id: NotRequired[str]
    user_id: NotRequired[str]
    tenant_id: NotRequired[str]
    business_id: NotRequired[str]
    mode: NotRequired[Literal["voice", "text", "live_call"]]
    turn_id: NotRequired[str]
    language: NotRequired[str]
    confirmation_token: NotRequired[str]
    dry_run: NotRequired[bool]
    cursor: NotRequired[str]
    tool_version: NotRequired[str]
    traceparent: NotRequired[str]
    tracestate: NotRequired[str]


IdempotencyKey = Union[str, Literal[False], None]
"""None: one is made for the call and kept over its tries. False: none, so that a call whose answer is lost is not sent again."""


@dataclass(frozen=True)
class CallDefaults:
    context: Dict[str, Any] = field(default_factory=dict)
    timeout: float = 60.0
    retry: RetryPolicy = RetryPolicy()
    idempotency_keys: bool = True


@dataclass(frozen=True)
class WholeCall:
    tool: str
    arguments: Dict[str, Any]
    context: Dict[str, Any]
    key: Optional[str]
    timeout: float
    may_repeat: bool = False
    retry: RetryPolicy = RetryPolicy()
    run_later: bool = False
    callback_url: Optional[str] = None


@dataclass(frozen=True)
class Answered:
    envelope: Envelope
    status: int


Try = Union[Answered, GatewayConnectionError]
