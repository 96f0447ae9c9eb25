# Uses what the two Python generators made of docs/reference/openapi.json. Run by scripts/openapi-clients.js, with both on the path.
import importlib
import pkgutil

import httpx
import models
import unified_tool_executor_client as generated
from unified_tool_executor_client.api.calls import execute_tool
from unified_tool_executor_client.models import OwnCall, OwnCallArguments, Refusal, Success

META = {
    "schema_version": "1.0.0",
    "call_id": "01a1",
    "tool": "calculate_sum",
    "tool_version": "1.0.0",
    "executor": "python",
    "duration_ms": 1.5,
    "attempts": 0,
    "cached": False,
    "replayed": False,
    "fallback": False,
    "degraded": [],
    "registry_version": "1.0.abc",
    "trace_id": "",
}
ACCEPTED = {
    "ok": True,
    "data": None,
    "intents": [],
    "meta": {**META, "status": "accepted", "call_url": "/v1/calls/01a1"},
}
REFUSED = {
    "ok": False,
    "error": {
        "type": "VALIDATION",
        "message": "No.",
        "retryable": False,
        "partial_side_effects": False,
        "origin": "caller",
        "reason": "SCHEMA_MISMATCH",
        "retry_after_ms": None,
        "details": {"violations": []},
    },
    "meta": META,
}


def answered(status: int, answer: object):
    """What the generated client makes of an answer."""
    transport = httpx.MockTransport(lambda request: httpx.Response(status, json=answer))
    client = generated.Client(base_url="http://gateway", raise_on_unexpected_status=True)
    client.set_httpx_client(httpx.Client(transport=transport, base_url="http://gateway"))
    body = OwnCall(arguments=OwnCallArguments.from_dict({"a": 1}))
    return execute_tool.sync("calculate_sum", client=client, body=body)


for module in pkgutil.walk_packages(generated.__path__, f"{generated.__name__}."):
    importlib.import_module(module.name)

accepted = answered(202, ACCEPTED)
assert isinstance(accepted, Success) and accepted.meta.call_url == "/v1/calls/01a1", accepted
refused = answered(400, REFUSED)
assert isinstance(refused, Refusal) and refused.error.type_.value == "VALIDATION", refused

envelope = models.Envelope.model_validate(ACCEPTED).root
assert envelope.ok is True and envelope.meta.status.value == "accepted", envelope
envelope = models.Envelope.model_validate(REFUSED).root
assert envelope.ok is False and envelope.error.reason == "SCHEMA_MISMATCH", envelope
try:
    models.NewAgent.model_validate({"name": "front-desk", "desciption": ""})
except ValueError:
    pass
else:
    raise AssertionError("a member that the gateway refuses was taken")
