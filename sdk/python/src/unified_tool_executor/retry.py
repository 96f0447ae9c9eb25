"""When a call is sent again, and under which idempotency key: by what the gateway says of it, and never blindly."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Optional

from .errors import GatewayConnectionError
from .gateway_types import Refusal


@dataclass(frozen=True)
class RetryPolicy:
    max_attempts: int = 4
    """Tries in all. Waiting for the end of the same call, which is under way, is none."""
    base_delay_ms: float = 250
    """The first pause where the gateway names none; doubled each time, with jitter."""
    max_delay_ms: float = 10_000


NO_RETRIES = RetryPolicy(max_attempts=1)


@dataclass(frozen=True)
class Protection:
    """What protects a call from being run twice."""

    has_key: bool
    may_repeat: bool


@dataclass(frozen=True)
class Verdict:
    again: bool
    same_key: bool = True
    """False: the key holds the outcome of a try that has ended, so the next needs another."""
    under_way: bool = False
    """Not a try: the call that was sent before is under way."""
    retry_after_ms: Optional[float] = None


_STOP = Verdict(again=False)
# Between the caller and the gateway, these say nothing of what became of the call.
_PASSING = {408, 425, 429, 502, 503, 504}


def after_refusal(refusal: Refusal, protection: Protection) -> Verdict:
    error, meta = refusal["error"], refusal["meta"]
    retry_after_ms = error["retry_after_ms"]
    if not error["retryable"]:
        return _STOP
    if error["reason"] == "IDEMPOTENCY_IN_FLIGHT":
        return Verdict(again=True, under_way=True, retry_after_ms=retry_after_ms)
    if error["reason"] == "ACCEPTANCE_UNKNOWN":
        return Verdict(again=True, retry_after_ms=retry_after_ms) if protection.has_key else _STOP
    if error["partial_side_effects"] and not protection.may_repeat:
        return _STOP
    # A call that was refused before it ran has not used its key; one that ran has.
    has_ended = meta["replayed"] or meta["attempts"] > 0
    return Verdict(again=True, same_key=not has_ended, retry_after_ms=retry_after_ms)


def after_loss(lost: GatewayConnectionError, protection: Protection) -> Verdict:
    if lost.status is not None and lost.status not in _PASSING:
        return _STOP
    if not lost.not_sent and not protection.has_key and not protection.may_repeat:
        return _STOP
    return Verdict(again=True, retry_after_ms=lost.retry_after_ms)


def delay_ms(policy: RetryPolicy, attempt: int, retry_after_ms: Optional[float]) -> float:
    """At least what the gateway asks for; without that, a random part of a time that doubles."""
    if retry_after_ms is not None:
        return retry_after_ms + random.random() * min(policy.base_delay_ms, retry_after_ms / 4 + 10)
    return random.random() * min(policy.max_delay_ms, policy.base_delay_ms * 2.0 ** min(attempt - 1, 30))


def key_of(key: str, ended: int) -> str:
    """The key of a try: that of the call, and a number for each one that has ended before."""
    return key if ended == 0 else f"{key}.{ended + 1}"
