"""One try of a call over REST."""

from __future__ import annotations

import math
from typing import Any, Dict, Optional

from ..errors import GatewayConnectionError
from ..options import Answered, Try, WholeCall
from ..wire import is_envelope, path_of, problem_of
from .transport import Transport
from .waiting import within

# The gateway ends a call itself in time; its answer needs a moment to arrive.
_ANSWER_S = 1.0
_MAX_WAIT_S = 60


class RestCalls:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def send(self, call: WholeCall, *, key: Optional[str], repeats: bool, left_s: float) -> Try:
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
        limit = left_s + _ANSWER_S
        try:
            with within(limit):
                answer = await self._transport.send("POST", path, body=body, headers=headers, timeout=limit)
        except GatewayConnectionError as error:
            return error
        if is_envelope(answer.body):
            return Answered(answer.body, answer.status)
        problem = problem_of(answer)
        if isinstance(problem, GatewayConnectionError):
            return problem
        raise problem
