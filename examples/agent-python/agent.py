"""An agent: a model that speaks OpenAI's protocol, the tools of the gateway, and a human for what is dangerous."""

import json
import os
import sys

from openai import OpenAI
from unified_tool_executor import GatewayClient, Limits, run
from unified_tool_executor.providers import openai

gateway = GatewayClient()  # UTE_URL and UTE_API_KEY
model = openai.model(OpenAI(), model=os.environ.get("MODEL", "gpt-5-mini"))  # OPENAI_BASE_URL and OPENAI_API_KEY


def decide(asked):
    """The demo's key may decide about its own calls. In production another person does, with a key of theirs."""
    approval = gateway.approvals.get(asked.approval_id)
    question = f"May the agent call {approval['tool']} with {json.dumps(approval['arguments'])}? (yes/no) "
    if input(question).strip() == "yes":
        gateway.approvals.approve(asked.approval_id)
    else:
        gateway.approvals.reject(asked.approval_id, "The user said no.")


result = run(
    model,
    gateway.toolbox(call={"approval_poll": 0.5}),
    [{"role": "user", "content": " ".join(sys.argv[1:])}],
    limits=Limits(turns=8, time=120, tokens=50_000),
    approvals="wait",
    on_approval=decide,
    on_answer=lambda each: print(f"{each.call.name} {json.dumps(each.call.arguments)}: ok {each.envelope['ok']}"),
)
print(f"{result.reason} after {result.turns} turns: {result.text}")
