// The calls of a stream that are under way, by their ids.
import { toolFailure } from '../../../contract/call/failure.ts';
import type { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { StreamMessage } from '../messages/server-messages.ts';
import type { CallSlot } from './ordered-output.ts';
import { StreamCall, type StreamCallNeeds, type StreamedCall } from './stream-call.ts';

/** Under way at once. */
export const MOST_CALLS = 16;

export interface StreamCallsNeeds extends Omit<StreamCallNeeds, 'slot'> {
  /** A call has ended, and its result is in its place. */
  readonly ended: () => void;
}

export class StreamCalls {
  readonly #needs: StreamCallsNeeds;
  readonly #calls = new Map<string, StreamCall>();
  /** How many were given an id. */
  #named: number;
  #whenIdle: (() => void)[] = [];

  constructor(named: number, needs: StreamCallsNeeds) {
    this.#needs = needs;
    this.#named = named;
  }

  get named(): number {
    return this.#named;
  }

  /** In the order of their making. */
  get ids(): readonly string[] {
    return [...this.#calls.keys()];
  }

  has(id: string): boolean {
    return this.#calls.has(id);
  }

  /** For a call that came without one. */
  newId(): string {
    do this.#named += 1;
    while (this.#calls.has(`call_${this.#named}`));
    return `call_${this.#named}`;
  }

  /** Why there may be no other. */
  refusal(): ToolFailure | undefined {
    if (this.#calls.size < MOST_CALLS) return undefined;
    const message = `The stream has ${MOST_CALLS} calls under way, and may have no more.`;
    return toolFailure('STREAM_CALLS_FULL', message, { retryAfterMs: 100 });
  }

  /** Resolves when its result is in its place. */
  async run(call: StreamedCall, slot: CallSlot<StreamMessage>): Promise<void> {
    const running = new StreamCall(call, { ...this.#needs, slot });
    this.#calls.set(call.id, running);
    await running.run();
    this.#calls.delete(call.id);
    this.#needs.ended();
    if (this.#calls.size === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** False: no call of this id is under way. */
  cancel(id: string): boolean {
    const call = this.#calls.get(id);
    call?.abort();
    return call !== undefined;
  }

  abort(): void {
    for (const call of this.#calls.values()) call.abort();
  }

  /** Resolves when none is under way. */
  async idle(): Promise<void> {
    while (this.#calls.size > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }
}
