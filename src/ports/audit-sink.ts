// AuditSink: where audit records go. A record that cannot be kept is an error or a counted gap, never a silence.
import type { JsonValue } from '../contract/json.ts';

/**
 * `intent`: a call is about to enter its executor. `outcome`: a call has ended. `accepted`: it will run later, and have
 * records of its own then. `gap`: records of this tenant are missing, `notes.dropped` says how many. The others are
 * written by what decides: a human about an approval or an unknown outcome, the reconciler about a lost call.
 * `erasure`: personal data of other records was erased, `notes.erased` says of which numbers.
 * `management`: somebody did something on the management side, or was refused; `notes` say what, and to what.
 */
export const AUDIT_KINDS = [
  'intent',
  'outcome',
  'accepted',
  'gap',
  'approval',
  'resolution',
  'reconciled',
  'management',
  'erasure',
] as const;
export type AuditKind = (typeof AUDIT_KINDS)[number];

export interface AuditRecord {
  /** Unique: a record that is stored twice is one record. */
  readonly eventId: string;
  readonly kind: AuditKind;
  /** ISO 8601, UTC: when the call came in. */
  readonly at: string;
  readonly callId: string;
  /** What the record says of the row in the call history; empty: the row is somebody else's, or there is none. */
  readonly callKind: 'sync' | 'async' | '';
  readonly door: string;
  /** Credential id, or empty where none was accepted. */
  readonly principal: string;
  readonly tenant: string;
  readonly agent: string;
  readonly user: string;
  readonly session: string;
  /** The name as asked for. */
  readonly requestedTool: string;
  /** Empty where no tool was resolved. */
  readonly tool: string;
  readonly toolVersion: string;
  readonly executor: string;
  /** `ok` or the error type; empty in an intent. */
  readonly outcome: string;
  readonly reason: string;
  /** sha256 of the arguments' canonical JSON, hex. Arguments themselves are not kept. */
  readonly argumentsHash: string;
  readonly readOnly: boolean;
  readonly idempotent: boolean;
  /** Of an outcome: the call had an intent, or may have one. */
  readonly intended: boolean;
  readonly attempts: number;
  readonly durationMs: number;
  /** Of an intent: how much time the call had left. */
  readonly remainingMs: number;
  readonly partialSideEffects: boolean;
  readonly registryVersion: string;
  readonly traceId: string;
  readonly notes?: { readonly [name: string]: JsonValue };
}

/** What a record says of a call where there was none. */
export const NO_CALL: Omit<AuditRecord, 'eventId' | 'kind' | 'at'> = {
  callId: '',
  callKind: '',
  door: '',
  principal: '',
  tenant: '',
  agent: '',
  user: '',
  session: '',
  requestedTool: '',
  tool: '',
  toolVersion: '',
  executor: '',
  outcome: '',
  reason: '',
  argumentsHash: '',
  readOnly: false,
  idempotent: false,
  intended: false,
  attempts: 0,
  durationMs: 0,
  remainingMs: 0,
  partialSideEffects: false,
  registryVersion: '',
  traceId: '',
};

export type RecordMaker = () => AuditRecord;
/** Records that could not be made, and why. */
export type Unmade = ReadonlyMap<RecordMaker, unknown>;

/** What cannot be kept is refused with ToolFailure UNAVAILABLE (reason AUDIT_UNAVAILABLE). */
export interface AuditSink {
  /** How carefully calls that change nothing are recorded here, unless an operator says otherwise. */
  readonly readOnlyMode: 'durable' | 'best_effort';
  /** Before a call: waits a moment where too much is waiting, and throws where a record could not be kept now. */
  ready(): void | Promise<void>;
  /** Committed when it resolves: after a crash at any later moment, this call is known to have begun. */
  intend(record: AuditRecord): Promise<void>;
  /** Kept when it resolves, through a crash of the process and of the machine. */
  write(record: AuditRecord): Promise<void>;
  /**
   * As `write`, for records of which there are many: made together with others, just before they are written. Resolves with those of
   * them that could not be made.
   */
  writeMade(make: RecordMaker): Promise<Unmade | undefined>;
  /** Made and kept soon, or dropped and counted where the buffer is full. Never throws. */
  offer(make: RecordMaker): void;
  /** One of the tenant is not made, because there are too many of its kind: a gap record says how many. */
  omit(tenant: string): void;
  flush(): Promise<void>;
  close(): Promise<void>;
}
