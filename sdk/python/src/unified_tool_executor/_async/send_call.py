"""One logical call: sent until there is an answer that counts, under one idempotency key, within one deadline."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Dict, Optional, Union

from ..errors import DeadlineError, GatewayConnectionError
from ..gateway_types import Envelope
from ..options import WholeCall
from ..retry import Protection, Verdict, after_loss, after_refusal, delay_ms, key_of
from ..wire import is_envelope, path_of, problem_of
from .transport import Transport
from .waiting import now, sleep, within

# The gateway ends a call itself in time; its answer needs a moment to arrive.
_ANSWER_S = 1.0
_MAX_WAIT_S = 60


@dataclass(frozen=True)
class Answered:
    envelope: Envelope
    status: int


_Try = Union[Answered, GatewayConnectionError]


async def send_call(transport: Transport, call: WholeCall) -> Answered:
    ends_at = now() + call.timeout
    protection = Protection(has_key=call.key is not None, may_repeat=call.may_repeat)
    attempt, ended, repeats = 1, 0, False
    while True:
        key = None if call.key is None else key_of(call.key, ended)
        tried = await _try_sending(transport, call, key, repeats, ends_at)
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


def _verdict_on(tried: _Try, protection: Protection) -> Verdict:
    if isinstance(tried, GatewayConnectionError):
        return after_loss(tried, protection)
    envelope = tried.envelope
    return Verdict(again=False) if envelope["ok"] else after_refusal(envelope, protection)


def _settled(tried: _Try) -> Answered:
    if isinstance(tried, GatewayConnectionError):
        raise tried
    return tried


async def _try_sending(transport: Transport, call: WholeCall, key: Optional[str], repeats: bool, ends_at: float) -> _Try:
    left_s = ends_at - now()
    if left_s <= 0:
        raise DeadlineError(f"there was no answer within {call.timeout} s")
    prefer = ["respond-async"] if call.run_later else []
    if repeats and key is not None:
        # A try whose answer was lost may be under way still: the gateway waits for its end.
        prefer.append(f"wait={min(_MAX_WAIT_S, math.ceil(left_s)) if left_s != math.inf else _MAX_WAIT_S}")
    body: Dict[str, Any] = {"arguments": call.arguments}
    if call.context:
        body["context"] = call.context
    if call.callback_url is not None:
        body["callback"] = {"url": call.callback_url}
    headers = {
        "idempotency-key": key,
        "x-request-timeout-ms": None if left_s == math.inf else str(max(1, int(left_s * 1000))),
        "prefer": ", ".join(prefer) or None,
    }
    path = path_of("/v1/tools/{tool}/execute", tool=call.tool)
    try:
        with within(left_s + _ANSWER_S):
            answer = await transport.send("POST", path, body=body, headers=headers, timeout=left_s + _ANSWER_S)
    except GatewayConnectionError as error:
        if now() >= ends_at:
            raise DeadlineError(f"there was no answer within {call.timeout} s") from error
        return error
    if is_envelope(answer.body):
        return Answered(answer.body, answer.status)
    problem = problem_of(answer)
    if isinstance(problem, GatewayConnectionError):
        return problem
    raise problem
