"""What goes wrong, as classes: one for each error type of the gateway, and two for what never reached it."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional

from .gateway_types import Meta, Refusal


class GatewayError(Exception):
    """The gateway, or a tool behind it, said no. `type` is one of a closed list, `reason` a word inside it."""

    def __init__(
        self,
        message: str,
        *,
        type: str,
        reason: str,
        retryable: bool,
        partial_side_effects: bool = False,
        origin: str = "gateway",
        retry_after_ms: Optional[float] = None,
        details: Optional[Mapping[str, Any]] = None,
        status: int = 200,
        meta: Optional[Meta] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.type = type
        self.reason = reason
        self.retryable = retryable
        """Whether the same call may succeed later."""
        self.partial_side_effects = partial_side_effects
        """Whether the tool may have changed something already."""
        self.origin = origin
        self.retry_after_ms = retry_after_ms
        self.details: Dict[str, Any] = dict(details or {})
        self.status = status
        self.meta = meta

    @property
    def call_id(self) -> Optional[str]:
        """Names the call in the gateway's log."""
        return None if self.meta is None else self.meta["call_id"]


class ValidationError(GatewayError):
    """The arguments, or the request, are not what was asked for: `violations` says where."""

    @property
    def violations(self) -> List[Dict[str, str]]:
        found = self.details.get("violations")
        return found if isinstance(found, list) else []


class PayloadTooLargeError(GatewayError):
    pass


class AuthError(GatewayError):
    pass


class PermissionDeniedError(GatewayError):
    pass


class NotFoundError(GatewayError):
    pass


class ModeRestrictedError(GatewayError):
    pass


class SessionInactiveError(GatewayError):
    pass


class BudgetExceededError(GatewayError):
    pass


class RateLimitError(GatewayError):
    pass


class ConcurrencyLimitError(GatewayError):
    pass


class ConfirmationRequiredError(GatewayError):
    """A human has to approve the call: wait for it with `wait_for_approval`, or redeem it later with `confirmation_token`."""

    @property
    def approval_id(self) -> Optional[str]:
        return self.details.get("approval_id")

    @property
    def approval_url(self) -> Optional[str]:
        """Where a human decides: a whole URL, at the gateway's address."""
        return self.details.get("approval_url")

    @property
    def expires_at(self) -> Optional[str]:
        return self.details.get("expires_at")

    @property
    def confirmation_token(self) -> Optional[str]:
        return self.details.get("confirmation_token")


class ConflictError(GatewayError):
    pass


class CallTimeoutError(GatewayError):
    """The gateway ended the call because its time was over."""


class CancelledError(GatewayError):
    pass


class UnavailableError(GatewayError):
    pass


class OutcomeUnknownError(GatewayError):
    """Nobody knows whether the call has run: an operator finds out. It is never repeated."""


class OutputInvalidError(GatewayError):
    pass


class OutputTooLargeError(GatewayError):
    pass


class TransientError(GatewayError):
    pass


class PermanentError(GatewayError):
    pass


class InternalError(GatewayError):
    pass


_CLASSES = {
    "VALIDATION": ValidationError,
    "PAYLOAD_TOO_LARGE": PayloadTooLargeError,
    "AUTH": AuthError,
    "PERMISSION_DENIED": PermissionDeniedError,
    "NOT_FOUND": NotFoundError,
    "MODE_RESTRICTED": ModeRestrictedError,
    "SESSION_INACTIVE": SessionInactiveError,
    "BUDGET_EXCEEDED": BudgetExceededError,
    "RATE_LIMIT": RateLimitError,
    "CONCURRENCY_LIMIT": ConcurrencyLimitError,
    "CONFIRMATION_REQUIRED": ConfirmationRequiredError,
    "CONFLICT": ConflictError,
    "TIMEOUT": CallTimeoutError,
    "CANCELLED": CancelledError,
    "UNAVAILABLE": UnavailableError,
    "OUTCOME_UNKNOWN": OutcomeUnknownError,
    "OUTPUT_INVALID": OutputInvalidError,
    "OUTPUT_TOO_LARGE": OutputTooLargeError,
    "TRANSIENT": TransientError,
    "PERMANENT": PermanentError,
    "INTERNAL": InternalError,
}


class GatewayConnectionError(Exception):
    """No answer that the gateway gave: the network, or something between."""

    def __init__(
        self,
        message: str,
        *,
        not_sent: bool = False,
        status: Optional[int] = None,
        retry_after_ms: Optional[float] = None,
    ) -> None:
        super().__init__(message)
        self.not_sent = not_sent
        """True: nothing was sent. False: the gateway may have the call."""
        self.status = status
        self.retry_after_ms = retry_after_ms


class DeadlineError(Exception):
    """The time that the caller gave was over before there was an answer."""


def error_of(type: str, message: str, **fields: Any) -> GatewayError:
    """A type that a newer gateway may say is a GatewayError all the same."""
    return _CLASSES.get(type, GatewayError)(message, type=type, **fields)


def error_of_refusal(refusal: Refusal, status: int = 200) -> GatewayError:
    error = refusal["error"]
    return error_of(
        error["type"],
        error["message"],
        reason=error["reason"],
        retryable=error["retryable"],
        partial_side_effects=error["partial_side_effects"],
        origin=error["origin"],
        retry_after_ms=error["retry_after_ms"],
        details=error["details"],
        status=status,
        meta=refusal["meta"],
    )
