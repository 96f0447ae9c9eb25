"""Client of UnifiedToolExecutor, a tool-execution gateway for agents.

    from unified_tool_executor import GatewayClient

    with GatewayClient() as gateway:  # UTE_URL and UTE_API_KEY
        print(gateway.execute("calculate_sum", {"a": 2, "b": 3})["data"])

`AsyncGatewayClient` has the same methods, to be awaited.
"""

from ._async.accepted_call import AcceptedCall as AsyncAcceptedCall
from ._async.client import AsyncGatewayClient
from ._async.run import run_async
from ._async.sessions import OpenSession as AsyncOpenSession
from ._async.stream import AsyncToolStream
from ._async.stream import StreamedCall as AsyncStreamedCall
from ._async.toolbox import AsyncToolbox
from ._sync.accepted_call import AcceptedCall, CallEvent
from ._sync.approvals import ApprovalEvent
from ._sync.client import GatewayClient
from ._sync.run import run
from ._sync.sessions import OpenSession
from ._sync.stream import StreamedCall, ToolStream
from ._sync.toolbox import Toolbox
from .dialog import Limits, ModelCall, ModelTurn, RunResult, Usage
from .errors import (
    AuthError,
    BudgetExceededError,
    CallTimeoutError,
    CancelledError,
    ConcurrencyLimitError,
    ConfirmationRequiredError,
    ConflictError,
    DeadlineError,
    GatewayConnectionError,
    GatewayError,
    InternalError,
    ModeRestrictedError,
    NotFoundError,
    OutcomeUnknownError,
    OutputInvalidError,
    OutputTooLargeError,
    PayloadTooLargeError,
    PermanentError,
    PermissionDeniedError,
    RateLimitError,
    SessionInactiveError,
    TransientError,
    UnavailableError,
    ValidationError,
)
from .options import CallContext
from .retry import RetryPolicy
from .stream_types import StreamHeard as StreamMessage
from .wire import path_of

__all__ = [
    "AcceptedCall",
    "ApprovalEvent",
    "AsyncAcceptedCall",
    "AsyncGatewayClient",
    "AsyncOpenSession",
    "AsyncStreamedCall",
    "AsyncToolStream",
    "AsyncToolbox",
    "AuthError",
    "BudgetExceededError",
    "CallContext",
    "CallEvent",
    "CallTimeoutError",
    "CancelledError",
    "ConcurrencyLimitError",
    "ConfirmationRequiredError",
    "ConflictError",
    "DeadlineError",
    "GatewayClient",
    "GatewayConnectionError",
    "GatewayError",
    "InternalError",
    "Limits",
    "ModeRestrictedError",
    "ModelCall",
    "ModelTurn",
    "NotFoundError",
    "OpenSession",
    "OutcomeUnknownError",
    "OutputInvalidError",
    "OutputTooLargeError",
    "PayloadTooLargeError",
    "PermanentError",
    "PermissionDeniedError",
    "RateLimitError",
    "RetryPolicy",
    "RunResult",
    "SessionInactiveError",
    "StreamMessage",
    "StreamedCall",
    "ToolStream",
    "Toolbox",
    "TransientError",
    "UnavailableError",
    "Usage",
    "ValidationError",
    "path_of",
    "run",
    "run_async",
]
