// CallLooks: however many ask, few read at once; who waits for the same reads it once, and never what was read before they asked.
import { describe, expect, it } from 'vitest';
import { settled } from '../../../test/helpers/fake-clock.ts';
import type { StoredCall } from '../../ports/calls/call-store.ts';
import { CallLooks } from './call-looks.ts';

/** Answers when it is told to. */
function slowStore() {
  const reads: { readonly id: string; readonly answer: (call?: StoredCall) => void }[] = [];
  const get = (_tenant: string, id: string) =>
    new Promise<StoredCall | undefined>((answer) => reads.push({ id, answer }));
  return { reads, looks: new CallLooks({ get, events: async () => [] }) };
}

const named = (id: string) => ({ id }) as StoredCall;

describe('looks at calls', () => {
  it('are few at once, however many ask', async () => {
    const { reads, looks } = slowStore();
    const asked = Array.from({ length: 1_200 }, (_, at) => looks.of('acme').get('acme', `call-${at}`));
    let most = 0;
    for (let done = 0; done < asked.length; done += 1) {
      await settled();
      most = Math.max(most, reads.length - done);
      const { id, answer } = reads[done] as (typeof reads)[number];
      answer(named(id));
    }
    expect(most).toBe(9);
    expect((await Promise.all(asked)).map((call) => call?.id)).toEqual(asked.map((_, at) => `call-${at}`));
  });

  it('at one call that wait for their turn are one', async () => {
    const { reads, looks } = slowStore();
    const busy = Array.from({ length: 9 }, (_, at) => looks.of('acme').get('acme', `busy-${at}`));
    const same = Array.from({ length: 900 }, () => looks.of('acme').get('acme', 'same'));
    for (const { id, answer } of reads.splice(0)) answer(named(id));
    await settled();
    expect(reads.map(({ id }) => id)).toEqual(['same']);
    reads[0]?.answer(named('same'));
    expect(new Set(await Promise.all(same))).toHaveProperty('size', 1);
    await Promise.all(busy);
  });

  it('that have begun are not joined: what has changed since would be missed', async () => {
    const { reads, looks } = slowStore();
    const before = looks.of('acme').get('acme', 'one');
    const after = looks.of('acme').get('acme', 'one');
    expect(reads).toHaveLength(2);
    reads[0]?.answer(named('old'));
    reads[1]?.answer(named('new'));
    expect([await before, await after].map((call) => call?.id)).toEqual(['old', 'new']);
  });

  it('of a tenant that asks for many do not keep another one out', async () => {
    const { reads, looks } = slowStore();
    for (let at = 0; at < 100; at += 1) void looks.of('acme').get('acme', `call-${at}`);
    void looks.of('other').get('other', 'its');
    expect(reads.some(({ id }) => id === 'its')).toBe(true);
  });

  it('that come again without news are rarer the more follow', () => {
    const { looks } = slowStore();
    expect(looks.againMs).toBe(1_000);
    const ends = Array.from({ length: 900 }, () => looks.follows());
    expect(looks.againMs).toBe(9_000);
    for (const end of ends) {
      end();
      end();
    }
    expect(looks.againMs).toBe(1_000);
  });

  it('that fail are told to each who asked, and keep nobody out', async () => {
    const looks = new CallLooks({
      get: async () => Promise.reject(new Error('away')),
      events: async () => [],
    });
    const asked = Array.from({ length: 20 }, () => looks.of('acme').get('acme', 'one'));
    expect((await Promise.allSettled(asked)).every(({ status }) => status === 'rejected')).toBe(true);
    expect(await looks.of('acme').events('one', 0, 1)).toEqual([]);
  });
});
