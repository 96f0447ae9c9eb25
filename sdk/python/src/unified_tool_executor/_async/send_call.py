"""One logical call: sent until there is an answer that counts, under one idempotency key, within one deadline."""

from __future__ import annotations

from typing import Optional, Protocol

from ..errors import DeadlineError, GatewayConnectionError
from ..options import Answered, Try, WholeCall
from ..retry import Protection, Verdict, after_loss, after_refusal, delay_ms, key_of
from .waiting import now, sleep


class Calls(Protocol):
    """Sends a call once, over REST or gRPC. Raises where another try is of no use."""

    async def send(self, call: WholeCall, *, key: Optional[str], repeats: bool, left_s: float) -> Try: ...


async def send_call(calls: Calls, call: WholeCall) -> Answered:
    ends_at = now() + call.timeout
    protection = Protection(has_key=call.key is not None, may_repeat=call.may_repeat)
    attempt, ended, repeats = 1, 0, False
    while True:
        key = None if call.key is None else key_of(call.key, ended)
        left_s = ends_at - now()
        if left_s <= 0:
            raise DeadlineError(f"there was no answer within {call.timeout} s")
        tried = await calls.send(call, key=key, repeats=repeats, left_s=left_s)
        if isinstance(tried, GatewayConnectionError) and now() >= ends_at:
            raise DeadlineError(f"there was no answer within {call.timeout} s") from tried
        verdict = _verdict_on(tried, protection)
        if not verdict.again:
            return _settled(tried)
        attempt += 0 if verdict.under_way else 1
        if attempt > call.retry.max_attempts:
            return _settled(tried)
        ended += 0 if verdict.same_key else 1
        repeats = verdict.same_key
        pause_s = delay_ms(call.retry, attempt - 1, verdict.retry_after_ms) / 1000
        if pause_s >= ends_at - now():
            return _settled(tried)
        await sleep(pause_s)


def _verdict_on(tried: Try, protection: Protection) -> Verdict:
    if isinstance(tried, GatewayConnectionError):
        return after_loss(tried, protection)
    envelope = tried.envelope
    return Verdict(again=False) if envelope["ok"] else after_refusal(envelope, protection)


def _settled(tried: Try) -> Answered:
    if isinstance(tried, GatewayConnectionError):
        raise tried
    return tried
