// What a caller may say of one call, and what a client says of all of its calls.
import type { ConfirmationRequiredError } from '../errors/gateway-error.ts';
import type { ToolContext } from '../generated/gateway.ts';
import { DEFAULT_RETRIES, NO_RETRIES, type RetryPolicy } from './retry.ts';

export type CallContext = Omit<ToolContext, 'idempotency_key'>;
export type Retries = Partial<RetryPolicy> | false;

export interface CallOptions {
  /** Lies over that of the client. */
  readonly context?: CallContext;
  /** Left out: one is made for the call and kept over its tries. False: none, so that a call whose answer is lost is not sent again. */
  readonly idempotencyKey?: string | false;
  /** How long to wait in all, over every try; a minute when left out. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** The call may run twice, though it may have acted: a tool that is idempotent. */
  readonly mayRepeat?: boolean;
  readonly retry?: Retries;
  /** Waits until a human has decided: until the approval expires, or for so many milliseconds. Left out: ConfirmationRequiredError. */
  readonly waitForApproval?: boolean | number;
  /** Told once, when a human has to decide. */
  readonly onApproval?: (asked: ConfirmationRequiredError) => void;
  /** Between two looks at whether somebody has decided; two seconds when left out. */
  readonly approvalPollMs?: number;
}

export interface CallDefaults {
  readonly context: CallContext;
  readonly timeoutMs: number;
  readonly retry: RetryPolicy;
  readonly idempotencyKeys: boolean;
}

export function policyOf(retry: Retries | undefined, otherwise: RetryPolicy = DEFAULT_RETRIES): RetryPolicy {
  return retry === false ? NO_RETRIES : { ...otherwise, ...retry };
}
