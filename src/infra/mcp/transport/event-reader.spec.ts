// Event streams of servers: however the bytes are cut up, the SDK gets the same messages, exact, bounded, and few at a time.
import * as fc from 'fast-check';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { yieldToLoop } from '../../../lib/concurrency/in-slices.ts';
import { FakeClock } from '../../../../test/helpers/fake-clock.ts';
import { eventReader } from './event-reader.ts';
import { MAX_DEPTH } from './json-depth.ts';
import { StandIns } from './stand-ins.ts';

const MIB = 1 << 20;

class Bench {
  readonly clock = new FakeClock();
  readonly standIns = new StandIns();
  refused: string | undefined;
  garbage = 0;

  reader(maxBytes = MIB): TransformStream<Uint8Array, Uint8Array> {
    return eventReader({
      maxBytes,
      clock: this.clock,
      standIn: (message) => this.standIns.for(message),
      onGarbage: () => (this.garbage += 1),
      onRefused: ({ type, reason }) => (this.refused = `${type} ${reason}`),
    });
  }

  /** What comes out, or why nothing more does. */
  async through(text: string, sizes: readonly number[] = [64 * 1024], maxBytes?: number): Promise<string> {
    const stream = ReadableStream.from(pieces(text, sizes)).pipeThrough(this.reader(maxBytes));
    return new Response(stream).text().catch(() => this.refused ?? 'nothing was said');
  }
}

function* pieces(text: string, sizes: readonly number[]): Generator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });
const eol = fc.constantFrom('\n', '\r\n', '\r');
const answer = (value: string) => `{"jsonrpc":"2.0","id":1,"result":{"v":${value}}}`;
const note = '{"jsonrpc":"2.0","method":"notifications/message","params":{}}';

describe('an event stream', () => {
  it('comes out as its messages, one line each, with the place to take it up again', async () => {
    await fc.assert(
      fc.asyncProperty(cuts, eol, async (sizes, end) => {
        const lines = [
          '\u{feff}: hello', '', 'id: 1', 'retry: 5', 'data:', '', 'event: message', `data: ${answer('"é"')}`, '',
          'event: other', `data: ${note}`, '', 'id: 2', 'data: {"jsonrpc":"2.0",', 'data:"method":"x"}', '', '', '',
        ]; // oxfmt-ignore
        const out = await new Bench().through(lines.join(end), sizes);
        const said = out.split('\n').filter((line) => line.startsWith('data'));
        expect(said).toEqual([`data: ${answer('"é"')}`, 'data: {"jsonrpc":"2.0", "method":"x"}']);
        expect(out).toMatch(/^id: 1\nretry: 5\n/);
        expect(out.indexOf('id: 2')).toBeGreaterThan(out.indexOf('é'));
      }),
      { numRuns: 60 },
    );
  });

  it('keeps numbers that no double holds, as text', async () => {
    await fc.assert(
      fc.asyncProperty(cuts, async (sizes) => {
        const out = await new Bench().through(`data: ${answer('[9007199254740993,"1e999"]')}\n\n`, sizes);
        expect(out).toBe(`data: ${answer('["9007199254740993","1e999"]')}\n\n`);
      }),
    );
  });

  it('passes nothing of what is no message, and says how often', async () => {
    const bench = new Bench();
    expect(
      await bench.through(
        'data: {\n\ndata: []\n\ndata: 1\n\n:x\n\n\n\nevent: x\ndata: y\n\ndata: unfinished',
      ),
    ).toBe('');
    expect(bench.garbage).toBe(3);
  });

  it('passes a large message by a short one that stands for it, once', async () => {
    const bench = new Bench();
    const large = answer(JSON.stringify('x'.repeat(200_000)));
    const out = await bench.through(`data: ${large}\n\n`, [7_000]);
    expect(out.length).toBeLessThan(200);
    const standIn = JSON.parse(out.slice('data: '.length)) as JSONRPCMessage;
    expect(bench.standIns.original(standIn)).toEqual(JSON.parse(large));
    expect(bench.standIns.original(standIn)).toBe(standIn);
  });

  it('ends at an event that is larger than allowed, in one line or in many', async () => {
    const large = 'OUTPUT_TOO_LARGE OUTPUT_TOO_LARGE';
    for (const text of [`data: ${'x'.repeat(200)}`, 'data: x\n'.repeat(50), ': ping\n'.repeat(50)]) {
      expect(await new Bench().through(text, [7], 100)).toBe(large);
    }
    const within = `data: ${note}\n\n`.repeat(20);
    expect(await new Bench().through(within, [7], 100)).toBe(within);
  });

  it('ends at JSON that is too deep, whatever the lines around it pretend', async () => {
    const bomb = '['.repeat(MAX_DEPTH + 1);
    for (const before of ['', 'id: "\n', 'event: "\n\n', ':"\n', `data: ${note}\n\nretry: "\n`]) {
      expect(await new Bench().through(`${before}data: ${bomb}\n\n`, [3], 10_000)).toBe(
        'OUTPUT_INVALID TOO_DEEP',
      );
    }
    const deep = `data: ${answer(`${'['.repeat(MAX_DEPTH - 2)}${']'.repeat(MAX_DEPTH - 2)}`)}\n\n`;
    expect(await new Bench().through(deep.repeat(3), [11], 10_000)).toBe(deep.repeat(3));
  });

  it('that goes on and on is cut off, though it says nothing; one that takes its time is not', async () => {
    expect(await new Bench().through('\n'.repeat(17 * MIB))).toBe('OUTPUT_INVALID PROTOCOL_VIOLATION');
    const bench = new Bench();
    const stream = bench.reader();
    const read = new Response(stream.readable).text();
    const writer = stream.writable.getWriter();
    for (let minute = 0; minute < 4; minute += 1) {
      await writer.write(Buffer.alloc(5 * MIB, '\n'));
      await bench.clock.advance(60_000);
    }
    await writer.close();
    expect(await read).toBe('');
    expect(bench.refused).toBeUndefined();
  });

  it('gives way to others between its events', async () => {
    const stream = ReadableStream.from(pieces(`data: ${note}\n\n`.repeat(1_000), [64 * 1024]));
    const reader = stream.pipeThrough(new Bench().reader()).getReader();
    let [events, turn, most] = [0, 0, 0];
    const progress = { isOver: false };
    const turns = async () => {
      for (; !progress.isOver; turn += 1) await yieldToLoop();
    };
    const counting = turns();
    for (let inTurn = 0, last = 0, { done } = await reader.read(); !done; { done } = await reader.read()) {
      inTurn = turn === last ? inTurn + 1 : 1;
      last = turn;
      events += 1;
      most = Math.max(most, inTurn);
    }
    progress.isOver = true;
    await counting;
    expect(events).toBe(1_000);
    expect(most).toBeLessThan(100);
  });
});
