// Types for authors of handlers: `/** @type {import('./handler.d.ts').Handler} */ export const execute = (args, context) => …`

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** What a handler gives back: the data, or the envelope itself (an object with a boolean `ok`). */
export type Handler<Args = JsonObject> = (args: Args, context: Context) => unknown;

export interface Context {
  readonly callId: string;
  readonly sessionId: string | undefined;
  readonly agentId: string | undefined;
  readonly userId: string | undefined;
  readonly tenantId: string | undefined;
  readonly mode: 'voice' | 'text' | 'live_call' | undefined;
  readonly tool: string;
  readonly action: string | undefined;
  /** What the operator set for this agent and tool; the secret part apart. */
  readonly config: JsonObject;
  readonly secrets: JsonObject;
  /** Aborted when the call's time is over or nobody waits for it any more. */
  readonly signal: AbortSignal;
  readonly logger: {
    readonly debug: (message: unknown) => void;
    readonly info: (message: unknown) => void;
    readonly warn: (message: unknown) => void;
    readonly error: (message: unknown) => void;
  };
  /** How far the call has got, from 0 to 1. */
  readonly progress: (fraction?: number, message?: string) => void;
  /** A piece of the result ahead of the rest. */
  readonly partial: (data: Json) => void;
  /**
   * Calls another tool as the same caller, inside the time that is left, and gives its data. Throws an error with the
   * `type`, `reason`, `message` and `details` of the answer.
   */
  readonly callTool: (tool: string, args?: JsonObject) => Promise<Json>;
}
