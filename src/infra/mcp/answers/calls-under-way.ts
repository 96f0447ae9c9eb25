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
  readonly onLog: ((log: McpLog) => void) | undefined;
  readonly asked: AskedInput[];
}

const MOST_ASKED = 5;

export class CallsUnderWay {
  readonly #calls = new Set<CallUnderWay>();

  async run<Result>(call: CallUnderWay, work: () => Promise<Result>): Promise<Result> {
    this.#calls.add(call);
    try {
      return await work();
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
    return this.#calls.size === 1 ? only : undefined;
  }
}
