"""The gateway's protocol of gRPC, from the descriptors in the package, and its messages as REST has them."""

from __future__ import annotations

import base64
import json
import re
from typing import Any, Dict, Mapping, Optional, Tuple, Type, Union, cast

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from google.protobuf.message import Message

from .descriptors import DESCRIPTORS
from .errors import GatewayConnectionError, GatewayError, error_of_refusal
from .gateway_types import Envelope, Refusal
from .options import Answered, Try, WholeCall
from .stream_types import StreamHeard, StreamSaid

_PACKAGE = "unified_tool_executor.v1"
_SERVICE = f"/{_PACKAGE}.ToolExecutorService"
EXECUTE = f"{_SERVICE}/Execute"
CONVERSE = f"{_SERVICE}/Converse"
_DOMAIN = "unified-tool-executor"
_MODE = "INTERACTION_MODE_"
# The gateway sends no larger message than 16 MiB.
CHANNEL_OPTIONS = [("grpc.max_receive_message_length", 17 * 1024 * 1024)]
# Of the status: gRPC has none of HTTP's.
_NO_STATUS = 0
# As REST would answer it: nothing of it may be sent again.
_OF_NO_USE = 501
_NOTHING_SENT = re.compile("no connection established|name resolution failed|failed to connect|connection refused", re.I)


def _loaded() -> descriptor_pool.DescriptorPool:
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(base64.b64decode(DESCRIPTORS)).file:
        pool.AddSerializedFile(file.SerializeToString())
    return pool


_POOL = _loaded()


def _class_of(name: str) -> Type[Message]:
    return message_factory.GetMessageClass(_POOL.FindMessageTypeByName(name))


ExecuteRequest = _class_of(f"{_PACKAGE}.ExecuteRequest")
ExecuteResponse = _class_of(f"{_PACKAGE}.ExecuteResponse")
ConverseRequest = _class_of(f"{_PACKAGE}.ConverseRequest")
ConverseResponse = _class_of(f"{_PACKAGE}.ConverseResponse")


def metadata_of(credential: Optional[str], tenant: Optional[str]) -> Tuple[Tuple[str, str], ...]:
    said = {"authorization": None if credential is None else f"Bearer {credential}", "x-ute-tenant": tenant}
    return tuple((name, value) for name, value in said.items() if value is not None)


def execute_request(call: WholeCall, key: Optional[str]) -> Any:
    context = dict(call.context) if key is None else {**call.context, "idempotency_key": key}
    return ExecuteRequest(
        **cast(
            Any,
            {
                "tool": call.tool,
                "arguments_json": json.dumps(call.arguments, allow_nan=False).encode(),
                "context": _context_of(context),
            },
        )
    )


def answered(response: Any) -> Try:
    meta = _meta_of(response.meta)
    if not response.ok:
        return Answered(cast(Envelope, {"ok": False, "error": _error_of(response.error), "meta": meta}), _NO_STATUS)
    data, intents = json.loads(response.data_json), [_intent_of(each) for each in response.intents]
    return Answered(cast(Envelope, {"ok": True, "data": data, "intents": intents, "meta": meta}), _NO_STATUS)


def answer_of_status(error: grpc.RpcError) -> Try:
    refusal = _refusal_of(error)
    return _loss_of(error) if refusal is None else Answered(refusal, _NO_STATUS)


def error_of_status(error: grpc.RpcError) -> Union[GatewayError, GatewayConnectionError]:
    """Of a stream: the gateway's error, or that the connection is lost."""
    refusal = _refusal_of(error)
    return _loss_of(error) if refusal is None else error_of_refusal(refusal, _NO_STATUS)


def converse_request(message: StreamSaid) -> Any:
    said: Dict[str, Any] = dict(message)
    kind = said.pop("type")
    if kind == "start" and "mode" in said:
        said["mode"] = _mode_message(said["mode"])
    if kind == "tool_call":
        said["arguments_json"] = json.dumps(said.pop("arguments", {}), allow_nan=False).encode()
        if "context" in said:
            said["context"] = _context_of(said["context"])
    return ConverseRequest(**{kind: _POOL_FIELDS[kind](**said)})


_POOL_FIELDS = {
    field.name: cast(Any, message_factory.GetMessageClass(cast(Any, field.message_type)))
    for field in ConverseRequest.DESCRIPTOR.fields
}


def converse_message(response: Any) -> Optional[StreamHeard]:
    """None: something that this version of the package does not know."""
    kind = response.WhichOneof("message")
    if kind is None:
        return None
    said = getattr(response, kind)
    fields = _READERS[kind](said) if kind in _READERS else {"type": kind, **_fields_of(said)}
    if fields is not None and response.seq != 0:
        fields["seq"] = response.seq
    return cast(Optional[StreamHeard], fields)


def _result_of(said: Any) -> Dict[str, Any]:
    fields = {"type": "tool_result", "id": said.id, "tool_name": said.tool_name, "ok": said.ok, "meta": _meta_of(said.meta)}
    if not said.ok:
        return {**fields, "error": _error_of(said.error)}
    return {**fields, "result": json.loads(said.result_json), "intents": [_intent_of(each) for each in said.intents]}


def _said_by(said: Any) -> Optional[Dict[str, Any]]:
    kind = said.WhichOneof("event")
    if kind == "partial":
        return {"type": "tool_partial", "id": said.id, "data": json.loads(said.partial.data_json)}
    if kind not in ("progress", "log"):
        return None
    return {"type": f"tool_{kind}", "id": said.id, **_fields_of(getattr(said, kind))}


def _begun(kind: str) -> Any:
    return lambda said: {"type": kind, **_fields_of(said), "session": _session_of(said.session)}


_READERS: Dict[str, Any] = {
    "started": _begun("started"),
    "resumed": _begun("resumed"),
    "tool_said": _said_by,
    "tool_result": _result_of,
    "turn_started": lambda said: {
        "type": "turn_started",
        "turn_id": said.turn_id,
        "budgets": [_budget_of(each) for each in said.budgets],
    },
    "refused": lambda said: {"type": "error", "error": _error_of(said.error)},
}


def _fields_of(message: Any) -> Dict[str, Any]:
    return json_format.MessageToDict(
        message,
        preserving_proto_field_name=True,
        always_print_fields_with_no_presence=True,
        descriptor_pool=_POOL,
    )


# Always there, whatever they hold; proto3 cannot tell the others from what is not said.
_ALWAYS = set(
    "schema_version call_id tool tool_version executor duration_ms attempts cached replayed fallback degraded "
    "registry_version trace_id".split()
)


def _meta_of(message: Any) -> Dict[str, Any]:
    meta = {name: value for name, value in _fields_of(message).items() if name in _ALWAYS or value}
    if message.HasField("recorded"):
        meta["recorded"] = message.recorded
    meta.pop("accepted_at", None)
    cut = meta.get("truncated")
    if cut is not None and not cut["cursor"]:
        del cut["cursor"]
    return meta


def _error_of(message: Any) -> Dict[str, Any]:
    fields = _fields_of(message)
    return {**fields, "retry_after_ms": fields.get("retry_after_ms"), "details": fields.get("details", {})}


def _intent_of(message: Any) -> Dict[str, Any]:
    fields = _fields_of(message)
    return {"type": fields["type"], **fields.get("fields", {})}


def _session_of(message: Any) -> Dict[str, Any]:
    fields = _fields_of(message)
    nulled = {name: fields[name] or None for name in ("agent_id", "user_id", "ended_at", "ended_by")}
    mode = fields["mode"].replace(_MODE, "").lower()
    budgets = [_budget_of(each) for each in message.budgets]
    turns = int(message.turn_id or 0)
    return {**fields, **nulled, "turns": turns, "mode": None if mode == "unspecified" else mode, "budgets": budgets}


def _budget_of(message: Any) -> Dict[str, Any]:
    fields = _fields_of(message)
    return {**fields, "used": fields.get("used"), "free_at": fields["free_at"] or None}


def _context_of(context: Mapping[str, Any]) -> Dict[str, Any]:
    said = dict(context)
    if "mode" in said:
        said["mode"] = _mode_message(said["mode"])
    business = said.pop("business_id", None)
    return said if business is None else {"tenant_id": business, **said}


def _mode_message(mode: str) -> str:
    return _MODE + mode.upper()


def _refusal_of(error: Any) -> Optional[Refusal]:
    """As the envelope that the status stands for; None where it is not the gateway's."""
    found = _details_in(error)
    info = found.get("google.rpc.ErrorInfo")
    if info is None or info["domain"] != _DOMAIN:
        return None
    said: Dict[str, str] = info.get("metadata", {})
    details = dict(found.get("google.protobuf.Struct", {}))
    bad = found.get("google.rpc.BadRequest")
    if bad is not None:
        violations = bad.get("field_violations", [])
        details["violations"] = [{"pointer": each["field"], "message": each["description"]} for each in violations]
    refusal = {
        "ok": False,
        "error": {
            "type": said.get("type"),
            "message": error.details(),
            "retryable": said.get("retryable") == "true",
            "partial_side_effects": said.get("partial_side_effects") == "true",
            "origin": said.get("origin"),
            "reason": info["reason"],
            "retry_after_ms": _milliseconds_of(found.get("google.rpc.RetryInfo")),
            "details": details,
        },
        "meta": _meta_from(said),
    }
    return cast(Refusal, refusal)


def _details_in(error: Any) -> Dict[str, Dict[str, Any]]:
    trailers = error.trailing_metadata() or ()
    packed = next((value for name, value in trailers if name == "grpc-status-details-bin"), None)
    if packed is None:
        return {}
    found = {}
    for each in cast(Any, _class_of("google.rpc.Status").FromString(cast(bytes, packed))).details:
        name = each.type_url.rpartition("/")[2]
        try:
            found[name] = _fields_of(_class_of(name).FromString(each.value))
        except KeyError:
            continue
    return found


def _loss_of(error: Any) -> GatewayConnectionError:
    code, details = error.code(), error.details() or ""
    passing = code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED)
    return GatewayConnectionError(
        f"no answer of the gateway over gRPC: {details or code}",
        not_sent=code == grpc.StatusCode.UNAVAILABLE and _NOTHING_SENT.search(details) is not None,
        status=None if passing or code == grpc.StatusCode.DEADLINE_EXCEEDED else _OF_NO_USE,
    )


def _meta_from(said: Dict[str, str]) -> Dict[str, Any]:
    """What is known of a call that ended in a status."""
    texts = {name: "" for name in ("tool_version", "executor", "registry_version", "trace_id")}
    return {
        **texts,
        "schema_version": "1.0.0",
        "call_id": said.get("call_id", ""),
        "tool": said.get("tool", ""),
        "duration_ms": 0,
        "attempts": int(said.get("attempts", "0")),
        "cached": False,
        "replayed": said.get("replayed") == "true",
        "fallback": False,
        "degraded": [],
    }


def _milliseconds_of(retry: Optional[Dict[str, Any]]) -> Optional[int]:
    if retry is None or "retry_delay" not in retry:
        return None
    # A Duration is written as seconds with an "s" behind them.
    return round(float(retry["retry_delay"].rstrip("s")) * 1000 + 0.499)
