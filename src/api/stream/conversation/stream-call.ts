// One call in a stream: it runs as any call does, and what it says goes to its place in the stream.
import type { CallEvent, ToolRequest } from '../../../contract/call/tool-call.ts';
import { toolFailure } from '../../../contract/call/failure.ts';
import type { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { ToolResponse } from '../../../contract/call/tool-response.ts';
import { stringifyInSlices } from '../../../lib/large-json/write-json.ts';
import type { ToolCaller } from '../../../ports/tool-caller.ts';
import { EventWriter, type EventForm } from '../../event-writer.ts';
import type { StreamedResponse, StreamMessage } from '../messages/server-messages.ts';
import type { CallSlot, Said } from './ordered-output.ts';

export interface StreamCallNeeds {
  readonly caller: Pick<ToolCaller, 'execute'>;
  readonly slot: CallSlot<StreamMessage>;
  /** Whether so much waits for the reader that nothing may be added but results. */
  readonly isOverfull: () => boolean;
  readonly leftOut: () => void;
}

export interface StreamedCall {
  readonly id: string;
  /** As the client wrote it. */
  readonly toolName: string;
  readonly request: Omit<ToolRequest, 'emit' | 'whenGone' | 'door'>;
}

/** Characters of a message beside its text. */
const AROUND = 100;

export class StreamCall {
  readonly #call: StreamedCall;
  readonly #needs: StreamCallNeeds;
  readonly #gone: (() => void)[] = [];
  #isGone = false;
  /** Why it was given up, where nobody asked for that. */
  #failure: ToolFailure | undefined;

  constructor(call: StreamedCall, needs: StreamCallNeeds) {
    this.#call = call;
    this.#needs = needs;
  }

  /** Resolves when its result is in its place. Never rejects. */
  async run(): Promise<void> {
    const { slot, caller } = this.#needs;
    const { id, toolName, request } = this.#call;
    const events = new EventWriter(formOf(id), {
      push: (said, mayBeLeftOut) => this.#push(said, mayBeLeftOut),
      overflow: () => this.#tooSlow(),
      fail: () => this.#tooSlow(),
    });
    slot.push(said({ type: 'tool_started', id, toolName }, toolName.length), false);
    const emit = (event: CallEvent) => {
      if (this.#failure === undefined) events.write(event);
    };
    const whenGone = (listener: () => void) => {
      if (this.#isGone) listener();
      else this.#gone.push(listener);
    };
    const response = await caller.execute({ ...request, door: 'stream', emit, whenGone });
    await events.settled();
    const streamed = streamedOf(response, this.#failure);
    const size = streamed.ok ? streamed.dataJson.length : JSON.stringify(streamed.error).length;
    slot.close(said({ type: 'tool_result', id, toolName, response: streamed }, size + 5 * AROUND));
  }

  /** As if whoever made it had gone away. */
  abort(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    for (const listener of this.#gone) listener();
  }

  #push(what: Said<StreamMessage>, mayBeLeftOut: boolean): void {
    if (this.#failure !== undefined) return;
    if (mayBeLeftOut && this.#needs.isOverfull()) return this.#needs.leftOut();
    if (this.#needs.isOverfull() || !this.#needs.slot.push(what, mayBeLeftOut)) this.#tooSlow();
  }

  #tooSlow(): void {
    this.#failure ??= toolFailure(
      'READER_TOO_SLOW',
      'Partial results came faster than they were read: the call was given up.',
      { partialSideEffects: true },
    );
    this.abort();
  }
}

function said(message: StreamMessage, size: number): Said<StreamMessage> {
  return { message, size: size + AROUND };
}

function formOf(id: string): EventForm<Said<StreamMessage>> {
  const partial = (dataJson: string) => said({ type: 'tool_partial', id, dataJson }, dataJson.length);
  return {
    write: (event) => {
      if (event.kind === 'partial') return partial(JSON.stringify(event.data));
      const { message = '' } = event;
      if (event.kind === 'log')
        return said({ type: 'tool_log', id, level: event.level, message }, message.length);
      return said(
        { type: 'tool_progress', id, fraction: event.fraction, message: event.message },
        message.length,
      );
    },
    writeLarge: async (data) => partial(await stringifyInSlices(data)),
  };
}

function streamedOf(response: ToolResponse, failure: ToolFailure | undefined): StreamedResponse {
  const { meta } = response;
  if (failure !== undefined) {
    const { type, message, retryable, origin, reason, details } = failure;
    const error = {
      type,
      message,
      retryable,
      origin,
      reason,
      details,
      retryAfterMs: null,
      partialSideEffects: true,
    };
    return { ok: false, error, meta };
  }
  if (!response.ok) return { ok: false, error: response.error, meta };
  return { ok: true, dataJson: response.dataJson, intents: response.intents, meta };
}
