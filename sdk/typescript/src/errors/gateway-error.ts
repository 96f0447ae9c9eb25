// What goes wrong, as classes: one for each error type of the gateway, and two for what never reached it.
import type { ErrorType, Meta, Refusal } from '../generated/gateway.ts';

export interface ErrorFields {
  readonly type: ErrorType;
  readonly message: string;
  readonly reason: string;
  readonly retryable: boolean;
  readonly partialSideEffects: boolean;
  readonly origin: 'caller' | 'gateway' | 'tool';
  readonly retryAfterMs?: number | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  /** HTTP status. */
  readonly status: number;
  /** Of a call; a management route has none. */
  readonly meta?: Meta | undefined;
}

/** The gateway, or a tool behind it, said no. `type` is one of a closed list, `reason` a word inside it. */
export class GatewayError extends Error {
  readonly type: ErrorType;
  readonly reason: string;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** Whether the tool may have changed something already. */
  readonly partialSideEffects: boolean;
  readonly origin: 'caller' | 'gateway' | 'tool';
  readonly retryAfterMs: number | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  readonly status: number;
  readonly meta: Meta | undefined;

  constructor(fields: ErrorFields) {
    super(fields.message);
    this.name = new.target.name;
    this.type = fields.type;
    this.reason = fields.reason;
    this.retryable = fields.retryable;
    this.partialSideEffects = fields.partialSideEffects;
    this.origin = fields.origin;
    this.retryAfterMs = fields.retryAfterMs;
    this.details = fields.details;
    this.status = fields.status;
    this.meta = fields.meta;
  }

  /** Names the call in the gateway's log. */
  get callId(): string | undefined {
    return this.meta?.call_id;
  }
}

export interface Violation {
  readonly pointer: string;
  readonly message: string;
}

/** The arguments, or the request, are not what was asked for: `violations` says where. */
export class ValidationError extends GatewayError {
  get violations(): readonly Violation[] {
    const { violations } = this.details;
    return Array.isArray(violations) ? (violations as Violation[]) : [];
  }
}
export class PayloadTooLargeError extends GatewayError {}
export class AuthError extends GatewayError {}
export class PermissionDeniedError extends GatewayError {}
export class NotFoundError extends GatewayError {}
export class ModeRestrictedError extends GatewayError {}
export class SessionInactiveError extends GatewayError {}
export class BudgetExceededError extends GatewayError {}
export class RateLimitError extends GatewayError {}
export class ConcurrencyLimitError extends GatewayError {}

/** A human has to approve the call: wait for it with `waitForApproval`, or redeem it later with `confirmationToken`. */
export class ConfirmationRequiredError extends GatewayError {
  get approvalId(): string | undefined {
    return textOf(this.details['approval_id']);
  }
  /** Where a human decides: a whole URL, at the gateway's address. */
  get approvalUrl(): string | undefined {
    return textOf(this.details['approval_url']);
  }
  get expiresAt(): string | undefined {
    return textOf(this.details['expires_at']);
  }
  get confirmationToken(): string | undefined {
    return textOf(this.details['confirmation_token']);
  }
}
export class ConflictError extends GatewayError {}
/** The gateway ended the call because its time was over. */
export class CallTimeoutError extends GatewayError {}
export class CancelledError extends GatewayError {}
export class UnavailableError extends GatewayError {}
/** Nobody knows whether the call has run: an operator finds out. It is never repeated. */
export class OutcomeUnknownError extends GatewayError {}
export class OutputInvalidError extends GatewayError {}
export class OutputTooLargeError extends GatewayError {}
export class TransientError extends GatewayError {}
export class PermanentError extends GatewayError {}
export class InternalError extends GatewayError {}

const CLASSES: { readonly [type in ErrorType]: typeof GatewayError } = {
  VALIDATION: ValidationError,
  PAYLOAD_TOO_LARGE: PayloadTooLargeError,
  AUTH: AuthError,
  PERMISSION_DENIED: PermissionDeniedError,
  NOT_FOUND: NotFoundError,
  MODE_RESTRICTED: ModeRestrictedError,
  SESSION_INACTIVE: SessionInactiveError,
  BUDGET_EXCEEDED: BudgetExceededError,
  RATE_LIMIT: RateLimitError,
  CONCURRENCY_LIMIT: ConcurrencyLimitError,
  CONFIRMATION_REQUIRED: ConfirmationRequiredError,
  CONFLICT: ConflictError,
  TIMEOUT: CallTimeoutError,
  CANCELLED: CancelledError,
  UNAVAILABLE: UnavailableError,
  OUTCOME_UNKNOWN: OutcomeUnknownError,
  OUTPUT_INVALID: OutputInvalidError,
  OUTPUT_TOO_LARGE: OutputTooLargeError,
  TRANSIENT: TransientError,
  PERMANENT: PermanentError,
  INTERNAL: InternalError,
};

/** A type that a newer gateway may say is a GatewayError all the same. */
export function errorOf(fields: ErrorFields): GatewayError {
  const Class = Object.hasOwn(CLASSES, fields.type) ? CLASSES[fields.type] : GatewayError;
  return new Class(fields);
}

export function errorOfRefusal({ error, meta }: Refusal, status = 200): GatewayError {
  return errorOf({
    type: error.type,
    message: error.message,
    reason: error.reason,
    retryable: error.retryable,
    partialSideEffects: error.partial_side_effects,
    origin: error.origin,
    retryAfterMs: error.retry_after_ms ?? undefined,
    details: error.details,
    status,
    meta,
  });
}

/** No answer that the gateway gave: the network, or something between. */
export class ConnectionError extends Error {
  /** True: nothing was sent. False: the gateway may have the call. */
  readonly notSent: boolean;
  /** Of an answer that something between gave. */
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    options: { notSent?: boolean; status?: number; retryAfterMs?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'ConnectionError';
    this.notSent = options.notSent ?? false;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The time that the caller gave was over before there was an answer. */
export class DeadlineError extends Error {
  constructor(timeoutMs: number, cause?: unknown) {
    super(`There was no answer within ${timeoutMs} ms.`, { cause });
    this.name = 'DeadlineError';
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
