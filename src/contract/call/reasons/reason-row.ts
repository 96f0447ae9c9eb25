// One reason inside an error's type: when it is given, what it means, and what follows from it.
import type { ErrorType } from '../error-types.ts';

export interface ReasonRow {
  /** The types that it is given with. */
  readonly types: readonly ErrorType[];
  /** One sentence without a full stop: what happened, or what to do. */
  readonly means: string;
  /** The tool's program surely never ran: also a tool that is not idempotent may be tried again. */
  readonly ranNothing?: boolean;
  /** Unavailable, yet no fault of what the tool calls: its circuit breaker does not count it. */
  readonly sparesUpstream?: boolean;
  /** The HTTP status and the google.rpc.Code, where they are not those of the first type. */
  readonly http?: number;
  readonly grpc?: number;
}

type Flags = Omit<ReasonRow, 'types' | 'means'>;

export function row(types: ErrorType | readonly ErrorType[], means: string, flags: Flags = {}): ReasonRow {
  return { types: typeof types === 'string' ? [types] : types, means, ...flags };
}
