// AuditSink: where audit records go. A record that cannot be kept is an error, never a silence.
import type { JsonValue } from '../contract/json.ts';

export interface AuditRecord {
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly callId: string;
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
  /** `ok` or the error type. */
  readonly outcome: string;
  readonly reason: string;
  /** sha256 of the arguments' canonical JSON, hex. Arguments themselves are not kept. */
  readonly argumentsHash: string;
  readonly attempts: number;
  readonly durationMs: number;
  readonly partialSideEffects: boolean;
  readonly registryVersion: string;
  readonly traceId: string;
  readonly notes?: { readonly [name: string]: JsonValue };
}

export interface AuditSink {
  /** Accepts the record or throws ToolFailure UNAVAILABLE (reason AUDIT_UNAVAILABLE) when it cannot. */
  write(record: AuditRecord): void | Promise<void>;
  /** Throws like `write` would if a record could not be kept now. */
  check(): void;
  flush(): Promise<void>;
  close(): Promise<void>;
}
