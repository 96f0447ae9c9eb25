// PythonWorker: an answer reaches the call it belongs to or none, and a worker that cannot be believed ends with all it had.
import { describe, expect, it } from 'vitest';
import { FakeClock, settled } from '../../../../test/helpers/fake-clock.ts';
import { FakeWorker } from '../../../../test/helpers/fake-python.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { FrameDecoder } from '../../../lib/bytes/frames.ts';
import { NotStarted } from '../../../lib/worker-pool/pool-options.ts';
import { PythonWorker } from './python-worker.ts';
import type { EndReason } from './worker-options.ts';

const GRACE_MS = 250;
const answerOf = (data: unknown) => JSON.stringify({ ok: true, data });

function setUp({ forks = true } = {}) {
  const child = new FakeWorker(1, 'obeys');
  const clock = new FakeClock();
  const ends: EndReason[] = [];
  const lines: string[] = [];
  const asked: { readonly op: string; readonly id: string }[] = [];
  let freed = 0;
  const decoder = new FrameDecoder(1 << 20);
  child.toChild.on('data', (chunk: Buffer) => {
    for (const frame of decoder.push(chunk))
      asked.push(JSON.parse(String(frame).split('\n')[0] ?? '') as { op: string; id: string });
  });
  const worker = new PythonWorker(child, {
    maxFrameBytes: 1_000,
    forks,
    clock,
    listener: () => undefined,
    onEnd: (_, reason) => void ends.push(reason),
    onCapacity: () => void (freed += 1),
  });
  /** One call, its id as the worker knows it, and how it ends. */
  async function call(signal?: AbortSignal) {
    const listener = { onLine: (_level: string, line: string) => void lines.push(line) };
    const outcome = worker.request({ head: '"op":"call"' }, listener, signal).then(
      (answer) => (answer.ok ? answer.data : answer.error),
      (error: unknown) => (error instanceof ToolFailure ? error.reason : error),
    );
    await settled();
    return { id: asked.at(-1)?.id ?? '', outcome };
  }
  const cancelled = () => asked.filter(({ op }) => op === 'cancel').map(({ id }) => id);
  return { child, clock, worker, ends, lines, call, cancelled, freed: () => freed };
}

/** As somebody who gives a call up. */
function leaving() {
  const gone = new AbortController();
  return {
    signal: gone.signal,
    leave: () => gone.abort(new ToolFailure('CANCELLED', 'gone', { reason: 'GONE' })),
  };
}

describe('answers', () => {
  it('reach the calls that they belong to, in whatever order they come', async () => {
    const { child, worker, call, freed } = setUp();
    const [one, two] = [await call(), await call()];
    child.send(two.id, answerOf('two'));
    child.send(one.id, answerOf('one'));
    expect(await Promise.all([one.outcome, two.outcome])).toEqual(['one', 'two']);
    expect([worker.running, freed()]).toEqual([0, 2]);
  });

  it('however they are cut on their way', async () => {
    const { child, call } = setUp();
    const { id, outcome } = await call();
    const whole = Buffer.from(`${id}a${answerOf('grüße')}`);
    const header = Buffer.alloc(4);
    header.writeUInt32BE(whole.length);
    for (const byte of Buffer.concat([header, whole])) child.sendBytes(Buffer.of(byte));
    expect(await outcome).toBe('grüße');
  });

  it('that are not JSON fail their call; of a worker that runs calls itself, every call', async () => {
    for (const forks of [true, false]) {
      const { child, call, ends } = setUp({ forks });
      const [one, two] = [await call(), await call()];
      child.send(one.id, 'nonsense');
      expect(await one.outcome).toBe('WORKER_PROTOCOL_VIOLATION');
      if (forks) child.send(two.id, answerOf('two'));
      expect(await two.outcome).toBe(forks ? 'two' : 'WORKER_PROTOCOL_VIOLATION');
      expect(ends).toEqual(forks ? [] : ['protocol_violation']);
    }
  });

  it('to nobody, or larger than may be, end the worker and all its calls', async () => {
    for (const [text, reason] of [
      [answerOf('x'), 'protocol_violation'],
      [answerOf('x'.repeat(3_000)), 'output_too_large'],
    ] as const) {
      const { child, call, ends, worker } = setUp();
      const [one, two] = [await call(), await call()];
      child.send('0'.repeat(22), text);
      expect(await one.outcome).toBe(await two.outcome);
      expect([ends, child.killed, worker.ended, worker.running]).toEqual([[reason], true, true, 0]);
    }
  });
});

describe('a call that is given up', () => {
  it('ends for its caller at once, and the worker is told to end it', async () => {
    const { worker, call, cancelled, ends } = setUp();
    const { signal, leave } = leaving();
    const { id, outcome } = await call(signal);
    leave();
    expect(await outcome).toBe('GONE');
    await settled();
    expect(cancelled()).toEqual([id]);
    // Until it has done so it may be stuck: nobody is given to it.
    expect([worker.isSound, worker.running, ends]).toEqual([false, 1, []]);
  });

  it('costs nothing more where the worker ends it in time', async () => {
    const { child, worker, call, clock, ends } = setUp();
    const { signal, leave } = leaving();
    const { id, outcome } = await call(signal);
    leave();
    await outcome;
    child.send(id, answerOf('too late'));
    await settled();
    expect([worker.isSound, worker.running]).toEqual([true, 0]);
    await clock.advance(10 * GRACE_MS);
    expect([ends, clock.pendingTimers]).toEqual([[], 0]);
  });

  it('ends the worker that does not, and with it whoever was there too', async () => {
    const { child, call, clock, ends } = setUp();
    const { signal, leave } = leaving();
    const given = await call(signal);
    const beside = await call();
    leave();
    await clock.advance(GRACE_MS - 1);
    expect(ends).toEqual([]);
    await clock.advance(1);
    expect([ends, child.killed]).toEqual([['unresponsive'], true]);
    expect([await given.outcome, await beside.outcome]).toEqual(['GONE', 'WORKER_DIED']);
  });
});

describe('a worker that ends', () => {
  it('by itself fails what it ran, but for an answer that is in the pipe already', async () => {
    const { child, call, ends } = setUp();
    const [answered, lost] = [await call(), await call()];
    child.send(answered.id, answerOf('in time'));
    child.die();
    expect([await answered.outcome, await lost.outcome]).toEqual(['in time', 'WORKER_DIED']);
    expect(ends).toEqual(['died']);
  });

  it('takes no more calls', async () => {
    const { child, call, worker } = setUp();
    child.die();
    await settled();
    await settled();
    expect(worker.ended).toBe(true);
    expect(await (await call()).outcome).toBe('WORKER_DIED');
  });

  it('after the call that it says it leaves with gives the others back: they have not begun', async () => {
    const { child, call, worker } = setUp();
    const [last, waiting] = [await call(), await call()];
    child.send(last.id, '', 'l');
    expect(await waiting.outcome).toBeInstanceOf(NotStarted);
    expect(worker.spoiled).toBe(true);
    child.send(last.id, answerOf('done'));
    expect(await last.outcome).toBe('done');
  });

  it('when it is closed finishes what it runs, and is killed where that takes too long', async () => {
    const { child, call, worker, clock, ends } = setUp();
    const { outcome } = await call();
    let isClosed = false;
    const closing = worker.close(1_000).then(() => (isClosed = true));
    await clock.advance(999);
    expect([child.closed, isClosed, child.killed]).toEqual([true, false, false]);
    await clock.advance(1);
    await closing;
    expect([await outcome, ends, child.killed]).toEqual(['WORKER_DIED', ['closed'], true]);
    expect(clock.pendingTimers).toBe(0);
  });
});

it('what is printed belongs to a call only while it is the only one', async () => {
  const { child, call, lines } = setUp({ forks: false });
  const one = await call();
  child.stdout.write('of one\n');
  await settled();
  const two = await call();
  child.stdout.write('of whom?\n');
  await settled();
  for (const { id } of [one, two]) child.send(id, answerOf(null));
  await Promise.all([one.outcome, two.outcome]);
  expect(lines).toEqual(['of one']);
});
