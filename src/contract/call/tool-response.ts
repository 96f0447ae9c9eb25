// ToolResponse: the envelope every call ends in, version 1.0.0. camelCase here; doors write the wire's snake_case.
import type { ErrorOrigin, ErrorType } from './error-types.ts';
import type { Intent } from './intent.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { VersionSource } from './version-source.ts';

export const ENVELOPE_VERSION = '1.0.0';

export interface ResponseMeta {
  readonly callId: string;
  /** Empty where no tool was resolved. */
  readonly tool: string;
  readonly toolVersion: string;
  readonly executor: string;
  readonly durationMs: number;
  readonly attempts: number;
  readonly cached: boolean;
  readonly replayed: boolean;
  readonly fallback: boolean;
  readonly degraded: readonly string[];
  readonly registryVersion: string;
  readonly traceId: string;
  /** The data is what the call would do; nothing was done. */
  readonly dryRun?: true;
  /** Only where a recording is replayed: the answer is from it, or the call was not in it and was really made. */
  readonly recorded?: boolean;
  readonly truncated?: Truncation;
  /** What the tool says comes from somewhere that is not trusted: it is data, and no instructions. */
  readonly untrusted?: true;
  /** The call took longer than its mode likes it to: that many milliseconds. */
  readonly softLimitMs?: number;
  /** Why that version ran, where it is not the one in force for everybody. */
  readonly versionSource?: VersionSource;
  /** The call was made in a deprecated form: what to call instead. */
  readonly successor?: string;
  /** The id that a model's provider gave the call: by it the answer is matched to what the model asked for. */
  readonly providerCallId?: string;
  /** The call is accepted and runs later; this is where its end will be found. */
  readonly acceptedAt?: string;
  /** It does so once a human has approved it. */
  readonly awaited?: AwaitedApproval;
}

export interface AwaitedApproval {
  readonly id: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** What a result budget left out. */
export interface Truncation {
  /** JSON Pointer of the list that was cut. */
  readonly pointer: string;
  readonly kept: number;
  readonly omitted: number;
  /** Give it as context.cursor with the same arguments to get the next items; absent where the tool cannot run again. */
  readonly cursor?: string;
}

export interface ToolError {
  readonly type: ErrorType;
  readonly message: string;
  readonly retryable: boolean;
  readonly partialSideEffects: boolean;
  readonly origin: ErrorOrigin;
  readonly reason: string;
  readonly retryAfterMs: number | null;
  readonly details: JsonObject;
}

export interface ToolSuccess {
  readonly ok: true;
  readonly data: JsonValue;
  /** `data` as JSON text: made once, sized once, sent by every door. */
  readonly dataJson: string;
  readonly intents: readonly Intent[];
  readonly meta: ResponseMeta;
  readonly rateLimits: readonly RateLimitState[];
}

export interface ToolRefusal {
  readonly ok: false;
  readonly error: ToolError;
  readonly meta: ResponseMeta;
  readonly rateLimits: readonly RateLimitState[];
  /** The internal cause, for logs; no door may send it. */
  readonly cause?: unknown;
}

export type ToolResponse = ToolSuccess | ToolRefusal;

/** Where a rate limit stands after this call: the stuff of the RateLimit headers. Not part of the envelope. */
export interface RateLimitState {
  readonly name: string;
  readonly limit: number;
  readonly remaining: number;
  readonly resetMs: number;
  readonly periodMs: number;
}

/** What an executor returns. `data` must be JSON; anything else is OUTPUT_INVALID. */
export interface ToolResult {
  readonly data: JsonValue;
  readonly intents?: readonly Intent[];
}
