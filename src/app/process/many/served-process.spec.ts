// ServedProcess: one that ends is started again, later each time it ends soon.
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/helpers/fake-clock.ts';
import type { ForkedSelf } from '../../../infra/process/forked-self.ts';
import { ServedProcess } from './served-process.ts';

function bench() {
  const clock = new FakeClock();
  const waits: (number | undefined)[] = [];
  const sent: object[] = [];
  let [forks, end, say] = [0, (_code: number) => {}, (_message: unknown) => {}];
  const fork = (_env: object, received: (message: unknown) => void): ForkedSelf => {
    forks += 1;
    say = received;
    const exited = new Promise<{ code: number | null; signal: null }>((resolve) => {
      end = (code) => resolve({ code, signal: null });
    });
    return { pid: forks, send: (message) => void sent.push(message), kill: () => undefined, exited };
  };
  const served = new ServedProcess({
    index: 1,
    clock,
    changed: () => undefined,
    serving: () => undefined,
    closed: () => undefined,
    ended: (_how, again) => void waits.push(again),
    fork,
  });
  const settled = () => new Promise((done) => setImmediate(done));
  return {
    clock,
    waits,
    sent,
    served,
    settled,
    forks: () => forks,
    end: (code: number) => end(code),
    say: (m: object) => say(m),
  };
}

describe('a process that serves', () => {
  it('takes connections from when it says so until it says that it ends', () => {
    const { served, say } = bench();
    served.start();
    expect(served.takesConnections).toBe(false);
    say({ ute: 'serving', pipeline: {} });
    expect(served.takesConnections).toBe(true);
    say({ ute: 'refusing', reason: 'full' });
    expect(served.state).toEqual({ process: 1, state: 'refusing', reason: 'full' });
    say({ ute: 'refusing', reason: null });
    say({ ute: 'ending' });
    expect(served.takesConnections).toBe(false);
  });

  it('is started again after it has ended, and waits longer each time it ends soon', async () => {
    const { served, clock, waits, settled, forks, end, say } = bench();
    served.start();
    for (let times = 0; times < 12; times += 1) {
      say({ ute: 'serving', pipeline: {} });
      end(1);
      await settled();
      await clock.advance(waits.at(-1) ?? 0);
    }
    expect(forks()).toBe(13);
    expect(waits[0]).toBeLessThanOrEqual(200);
    expect(waits.at(-1)).toBeGreaterThanOrEqual(15_000);
    expect(waits.at(-1)).toBeLessThanOrEqual(30_000);
  });

  it('that served for a minute is started again as soon as at first', async () => {
    const { served, clock, waits, settled, end, say } = bench();
    served.start();
    for (let times = 0; times < 3; times += 1) {
      say({ ute: 'serving', pipeline: {} });
      await clock.advance(60_000);
      end(1);
      await settled();
      await clock.advance(waits.at(-1) ?? 0);
    }
    expect(Math.max(...waits.map(Number))).toBeLessThanOrEqual(200);
  });

  it('that was told to stop is not started again', async () => {
    const { served, waits, sent, settled, forks, end } = bench();
    served.start();
    const stopped = served.stop();
    end(0);
    expect(await stopped).toBe(true);
    await settled();
    expect(sent).toContainEqual({ ute: 'stop' });
    expect([forks(), waits]).toEqual([1, [undefined]]);
  });

  it('that was told to stop while it starts takes no connections when it has started', () => {
    const { served, say } = bench();
    served.start();
    void served.stop();
    say({ ute: 'serving', pipeline: {} });
    expect(served.takesConnections).toBe(false);
  });

  it('that was told to stop is not started at all', async () => {
    const { served, forks } = bench();
    expect(await served.stop()).toBe(true);
    served.start();
    expect(forks()).toBe(0);
  });

  it('refuses from when it serves where it says so', () => {
    const { served, say } = bench();
    served.start();
    say({ ute: 'serving', pipeline: {}, reason: 'full' });
    expect(served.state).toEqual({ process: 1, state: 'refusing', reason: 'full' });
  });

  it('a question that is not answered is given up', async () => {
    const { served, clock, say } = bench();
    served.start();
    say({ ute: 'serving', pipeline: {} });
    const asked = served.ask('text', 1_000);
    await clock.advance(1_000);
    expect(await asked).toBeUndefined();
  });
});
