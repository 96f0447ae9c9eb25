"""The dialog loop. The model speaks, its calls are run, the answers go back, until it calls no more or a limit is met."""

from __future__ import annotations

import json
from functools import partial
from typing import Any, Callable, Dict, List, Literal, Optional, Sequence, Union

from ..dialog import (
    AnsweredCall,
    Dialect,
    GenerateRequest,
    Limits,
    Model,
    ModelCall,
    ModelTurn,
    RunResult,
    StopReason,
    Usage,
    WantedApproval,
    refused,
)
from ..errors import ConfirmationRequiredError, DeadlineError, error_of_refusal
from ..providers import openai
from .toolbox import AsyncToolbox
from .waiting import gather, maybe_settled, now, within

ModelFunction = Callable[[GenerateRequest], Any]
"""Any function from a request, with messages of OpenAI's form, to a ModelTurn."""


async def run_async(
    model: Union[Model, ModelFunction],
    tools: AsyncToolbox,
    messages: Sequence[Any],
    *,
    limits: Limits = Limits(),
    approvals: Literal["tell", "wait", "stop"] = "tell",
    on_approval: Optional[Callable[[ConfirmationRequiredError], Any]] = None,
    on_turn: Optional[Callable[[ModelTurn], Any]] = None,
    on_answer: Optional[Callable[[AnsweredCall], Any]] = None,
) -> RunResult:
    """`approvals`: a call that a human has to approve is told to the model, waited for, or ends the loop."""
    made = model if isinstance(model, Model) else _from_function(model)
    dialog = _Dialog(made, tools, messages, limits, approvals, on_approval, on_turn, on_answer)
    return await dialog.run()


class _Dialog:
    def __init__(
        self,
        model: Model,
        tools: AsyncToolbox,
        messages: Sequence[Any],
        limits: Limits,
        approvals: str,
        on_approval: Optional[Callable[[ConfirmationRequiredError], Any]],
        on_turn: Optional[Callable[[ModelTurn], Any]],
        on_answer: Optional[Callable[[AnsweredCall], Any]],
    ) -> None:
        self._model = model
        self._tools = tools
        self._limits = limits
        self._approvals = approvals
        self._on_approval = on_approval
        self._on_turn = on_turn
        self._on_answer = on_answer
        self._ends_at = now() + limits.time
        self._result = RunResult("answered", "", list(messages), 0, 0, Usage())

    async def run(self) -> RunResult:
        try:
            with within(self._left):
                listed = await self._tools.of(self._model.dialect)
                reason = None
                while reason is None:
                    reason = await self._turn(listed)
        except DeadlineError:
            if now() < self._ends_at:
                raise
            reason = "time_limit"
        self._result.reason = reason
        if reason != "approval_required":
            self._result.approvals = []
        return self._result

    @property
    def _left(self) -> float:
        return self._ends_at - now()

    async def _turn(self, listed: Any) -> Optional[StopReason]:
        """None: go on."""
        result = self._result
        if result.turns >= self._limits.turns:
            return "turn_limit"
        if self._left <= 0:
            return "time_limit"
        timeout = None if self._limits.time == float("inf") else self._left
        request = GenerateRequest(list(result.messages), listed, timeout)
        said = await maybe_settled(self._model.create(request))
        turn: ModelTurn = self._model.dialect.read(said)
        result.turns += 1
        result.text = turn.text
        result.usage = result.usage + turn.usage
        if self._on_turn is not None:
            self._on_turn(turn)
        if not turn.calls:
            result.messages += turn.messages or ()
            return "answered"
        limit = self._limit_before(len(turn.calls))
        answered = self._not_run(turn.calls, limit) if limit else await self._answer(turn.calls)
        # Only together: a call without its answer is a message list that no provider takes.
        result.messages += [*(turn.messages or ()), *self._model.dialect.results(answered)]
        return limit or ("approval_required" if self._approvals == "stop" and result.approvals else None)

    def _limit_before(self, count: int) -> Optional[StopReason]:
        """What keeps the calls of a turn from being run."""
        usage = self._result.usage
        if usage.input_tokens + usage.output_tokens >= self._limits.tokens:
            return "token_limit"
        if self._left <= 0:
            return "time_limit"
        return "call_limit" if self._result.calls + count > self._limits.calls else None

    def _not_run(self, calls: Sequence[ModelCall], limit: StopReason) -> List[AnsweredCall]:
        message = "The call was not run: the dialog has met its limit."
        return [AnsweredCall(call, refused("CANCELLED", limit.upper(), message)) for call in calls]

    async def _answer(self, calls: Sequence[ModelCall]) -> List[AnsweredCall]:
        self._result.calls += len(calls)
        options: Dict[str, Any] = {}
        if self._approvals == "wait":
            options["wait_for_approval"] = True if self._left == float("inf") else self._left
            if self._on_approval is not None:
                options["on_approval"] = self._on_approval
        envelopes = await gather([partial(self._tools.call_for, call, **options) for call in calls])
        answered = [AnsweredCall(call, envelope) for call, envelope in zip(calls, envelopes)]
        for each in answered:
            if self._on_answer is not None:
                self._on_answer(each)
        if self._approvals != "wait":
            self._note_approvals(answered)
        return answered

    def _note_approvals(self, answered: Sequence[AnsweredCall]) -> None:
        self._result.approvals = []
        for each in answered:
            envelope = each.envelope
            if envelope["ok"]:
                continue
            asked = error_of_refusal(envelope)
            if isinstance(asked, ConfirmationRequiredError):
                self._result.approvals.append(WantedApproval(each.call, asked))
                if self._on_approval is not None:
                    self._on_approval(asked)


def _from_function(function: ModelFunction) -> Model:
    """Its calls become a message of OpenAI's form, unless it gives messages itself."""

    def read(turn: ModelTurn) -> ModelTurn:
        if turn.messages is not None:
            return turn
        own: Dict[str, Any] = {"role": "assistant", "content": turn.text}
        if turn.calls:
            own["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": json.dumps(call.arguments or {})},
                }
                for call in turn.calls
            ]
        return ModelTurn(turn.text, turn.calls, [own], turn.usage)

    return Model(Dialect("openai", read, openai.results), function)
