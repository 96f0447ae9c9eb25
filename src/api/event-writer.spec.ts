// Events become messages in their order, and large ones in slices.
import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { JsonValue } from '../contract/json.ts';
import type { CallEvent } from '../contract/call/tool-call.ts';
import { writeEvent } from './grpc/execute/write-response.ts';
import { eventForm } from './grpc/stream/execute-stream.ts';
import { EventWriter, MAX_WAITING_EVENTS } from './event-writer.ts';

const LARGE = Array.from({ length: 50_000 }, (_, index) => index);

function setUp() {
  const pushed: [Uint8Array, boolean][] = [];
  const sink = {
    push: (message: Uint8Array, mayBeLeftOut: boolean) => void pushed.push([message, mayBeLeftOut]),
    overflow: vi.fn<() => void>(),
    fail: vi.fn<(thrown: unknown) => void>(),
  };
  return { pushed, sink, writer: new EventWriter(eventForm('struct'), sink) };
}

const partial = (data: JsonValue): CallEvent => ({ kind: 'partial', data });
const log = (message: string): CallEvent => ({ kind: 'log', level: 'info', message });

describe('event writer', () => {
  it('keeps the order of events of any size, each as it would be written alone', async () => {
    const event = fc.oneof(fc.string().map(log), fc.integer().map(partial), fc.constant(partial(LARGE)));
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 6 }), async (events) => {
        const { pushed, writer } = setUp();
        for (const each of events) writer.write(each);
        await writer.settled();
        expect(pushed.map(([message]) => Buffer.from(message))).toEqual(
          events.map((each) => Buffer.from(writeEvent(each, 'struct'))),
        );
        expect(pushed.map(([, mayBeLeftOut]) => mayBeLeftOut)).toEqual(
          events.map(({ kind }) => kind !== 'partial'),
        );
      }),
      { numRuns: 10 },
    );
  });

  it('hands a small event on at once', () => {
    const { pushed, writer } = setUp();
    writer.write(log('one'));
    expect(pushed).toHaveLength(1);
  });

  it('does not write a large partial result in the turn of its emission', async () => {
    const { pushed, writer } = setUp();
    writer.write(partial(LARGE));
    expect(pushed).toHaveLength(0);
    await writer.settled();
    expect(pushed).toHaveLength(1);
  });

  it('overflows, rather than lose a partial result, where too many wait for a large one', () => {
    const { sink, writer } = setUp();
    writer.write(partial(LARGE));
    for (let count = 0; count < MAX_WAITING_EVENTS; count += 1)
      writer.write(log('left out when there are too many'));
    expect(sink.overflow).not.toHaveBeenCalled();
    writer.write(partial(1));
    expect(sink.overflow).toHaveBeenCalledOnce();
  });

  it('overflows where many large partial results come at once: not all of them are held', () => {
    const { sink, writer } = setUp();
    for (let count = 0; count < 100 && sink.overflow.mock.calls.length === 0; count += 1)
      writer.write(partial(LARGE));
    expect(sink.overflow).toHaveBeenCalledOnce();
  });

  it('says that an event cannot be written, and goes on', async () => {
    const { pushed, sink, writer } = setUp();
    let deep: JsonValue = LARGE;
    for (let depth = 0; depth < 200; depth += 1) deep = [deep];
    writer.write(partial(deep));
    await writer.settled();
    expect(sink.fail).toHaveBeenCalledWith(expect.objectContaining({ type: expect.any(String) }));
    writer.write(log('after it'));
    expect(pushed).toHaveLength(1);
  });
});
