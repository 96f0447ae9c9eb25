// CallsUnderWay: whom a word of the server is for that names no call: its log lines, and what it wants to be told. Where one
// call alone is under way it is that call; else nobody: they may be of several tenants.
import type { JsonObject } from '../../../contract/json.ts';
import type { McpLog } from '../../../ports/egress/mcp-servers.ts';

/** What a server asked for in the middle of a call, and nobody could tell it. */
export interface AskedInput {
  readonly message: string;
  /** Of the answer that it wanted, where it said. */
  readonly schema?: JsonObject;
  /** Where a human was to go. */
  readonly url?: string;
}

export interface CallUnderWay {
  /** Absent: not known, which is as another one each time. */
  readonly tenant?: string | undefined;
  readonly signal: AbortSignal;
  /** Its failure may be that of a question about the task, which goes on. */
  readonly isTask: boolean;
  readonly onLog?: ((log: McpLog) => void) | undefined;
  readonly asked: AskedInput[];
}

const MOST_ASKED = 5;

/** Of one session. */
export class CallsUnderWay {
  readonly #calls = new Set<CallUnderWay>();
  /** Of the calls so far, those under way and those before. */
  readonly #tenants = new Set<string | undefined>();
  /** The server may work on a call that nobody waits for any more, and what it says may be of that one. */
  #isAnyLeft = false;

  async run<Result>(call: CallUnderWay, work: () => Promise<Result>): Promise<Result> {
    this.#calls.add(call);
    // More than two say nothing more, and a server may be called by any number of tenants.
    if (this.#tenants.size < 2) this.#tenants.add(call.tenant);
    try {
      return await work();
    } catch (error) {
      if (call.signal.aborted || call.isTask || !isAnswer(error)) this.#isAnyLeft = true;
      throw error;
    } finally {
      this.#calls.delete(call);
    }
  }

  logged(log: McpLog): void {
    this.#only()?.onLog?.(log);
  }

  wasAsked(input: AskedInput): void {
    const call = this.#only();
    if (call !== undefined && call.asked.length < MOST_ASKED) call.asked.push(input);
  }

  #only(): CallUnderWay | undefined {
    const [only] = this.#calls;
    const isOneTenants = this.#tenants.size === 1 && !this.#tenants.has(undefined);
    return this.#calls.size === 1 && (isOneTenants || !this.#isAnyLeft) ? only : undefined;
  }
}

/** An error of JSON-RPC has a number; what the SDK throws by itself has a name. */
function isAnswer(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'number';
}
