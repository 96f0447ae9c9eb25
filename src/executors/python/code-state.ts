// CodeState: what one run of code leaves for the next one of its session. The gateway keeps it as text, and never looks into it.
import { hash } from 'node:crypto';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { ResultCache } from '../../ports/result-cache.ts';

const LIFE_MS = 3_600_000;
/** A megabyte of values and definitions, in base64. */
const MAX_BYTES = 1_600_000;
const COMPONENT = 'code_state';
/** Before a state with which the last run did not end; no base64 begins so. */
const SUSPECT = '!';

export interface FoundState {
  readonly key: string;
  /** Null: there is none, or it is lost. */
  readonly text: string | null;
  /** The last run with it did not end. */
  readonly isSuspect: boolean;
}

export class CodeState {
  readonly #cache: ResultCache;
  readonly #maxBytes: number;

  /** `maxFrameBytes`: of a request to a worker, which has to hold the code as well. */
  constructor(cache: ResultCache, maxFrameBytes: number) {
    this.#cache = cache;
    this.#maxBytes = Math.min(MAX_BYTES, Math.floor(maxFrameBytes / 2));
  }

  /** Undefined: the call asks for no state. Throws ToolFailure VALIDATION where there is no session that it could be of. */
  async open(call: ToolCall, tool: string): Promise<FoundState | undefined> {
    if (call.arguments['keep_state'] !== true) return undefined;
    const { principal, context } = call;
    if (context.sessionId === undefined) {
      const message = 'needs context.session_id: state is kept for the calls of one session';
      throw toolFailure('MALFORMED_CALL', `The argument keep_state ${message}.`, {
        partialSideEffects: false,
        details: { violations: [{ pointer: '/keep_state', message }] },
      });
    }
    // Whoever runs code in it can read all of it: it is of one credential, and of the agent and user that this speaks for.
    const owner = [principal?.tenantId, principal?.id, context.agentId, context.userId, context.sessionId];
    return this.#find(
      `code-state:${hash('sha256', JSON.stringify([tool, ...owner.map((each) => each ?? null)]))}`,
      call,
    );
  }

  async #find(key: string, call: ToolCall): Promise<FoundState> {
    try {
      const look = { token: call.id, leadMs: 1, staleMs: 0, maxBytes: this.#maxBytes + SUSPECT.length };
      const { value = '' } = await this.#cache.look(key, look);
      const isSuspect = value.startsWith(SUSPECT);
      return { key, text: (isSuspect ? value.slice(SUSPECT.length) : value) || null, isSuspect };
    } catch {
      return { key, text: lost(call, null), isSuspect: false };
    }
  }

  /**
   * Of a run that was given this state. One that did not end may be the state's doing, which is code: after the second in a row
   * it is dropped, or the session would have no use of its state until that is over.
   */
  async held<Said>(found: FoundState | undefined, run: Promise<Said>, call: ToolCall): Promise<Said> {
    try {
      return await run;
    } catch (error) {
      if (found !== undefined && found.text !== null && mayHaveRun(error))
        await this.#keep(found.key, found.isSuspect ? '' : `${SUSPECT}${found.text}`, call);
      throw error;
    }
  }

  /** What the answer says of it. */
  async keep(key: string, said: JsonObject, call: ToolCall): Promise<JsonObject> {
    const { state = null, state_restored: restored = false, state_left_out: leftOut = [] } = said;
    const kept = typeof state === 'string' && (await this.#keep(key, state, call));
    return { restored, kept, left_out: leftOut };
  }

  async #keep(key: string, state: string, call: ToolCall): Promise<boolean> {
    if (state.length > this.#maxBytes + SUSPECT.length) return false;
    try {
      await this.#cache.keep(key, state, { token: call.id, lifeMs: LIFE_MS });
      return true;
    } catch {
      return lost(call, false);
    }
  }
}

function mayHaveRun(error: unknown): boolean {
  return !(error instanceof ToolFailure) || error.partialSideEffects !== false;
}

function lost<Value extends JsonValue>({ progress: { degraded } }: ToolCall, value: Value): Value {
  if (!degraded.includes(COMPONENT)) degraded.push(COMPONENT);
  return value;
}
