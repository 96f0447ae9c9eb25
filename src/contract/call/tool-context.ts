// ToolContext: what comes with a call besides its arguments.
import type { InteractionMode } from '../tool/tool-spec.ts';

/** Every field as the caller said it; the auth extension binds tenant, agent and user to the credential. */
export interface ToolContext {
  readonly sessionId?: string;
  readonly agentId?: string;
  readonly userId?: string;
  /** Also accepted as business_id. */
  readonly tenantId?: string;
  readonly mode?: InteractionMode;
  readonly turnId?: string;
  readonly idempotencyKey?: string;
  readonly confirmationToken?: string;
  /** Asks what the call would do, without doing it. */
  readonly dryRun?: boolean;
  /** From `meta.truncated` of an earlier answer: go on after the last item it gave. */
  readonly cursor?: string;
  /** The version of the tool to run: its content hash, or its metadata.version. The one in force when left out. */
  readonly toolVersion?: string;
  /** The toolset that the tool is called through: its name is the one there. The core takes it out. */
  readonly toolset?: string;
  /** The language that the user is spoken to in, as a tag of BCP 47: `de`, `pt-BR`. Safe answers are given in it. */
  readonly language?: string;
  /** W3C trace context of the caller. */
  readonly traceparent?: string;
  readonly tracestate?: string;
}
