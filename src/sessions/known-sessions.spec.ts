// KnownSessions: who is known costs no look at the database, an end is seen soon, and a database that is away takes nothing away.
import { describe, expect, it } from 'vitest';
import { recordingLog, recordingMetrics } from '../../test/helpers/call-kit.ts';
import { FakeClock } from '../../test/helpers/fake-clock.ts';
import { FakeSessions, sessionOf } from '../../test/helpers/session-kit.ts';
import { KnownSessions } from './known-sessions.ts';

const ID = sessionOf().id;

function setUp() {
  const clock = new FakeClock(1_000);
  const store = new FakeSessions();
  const log = recordingLog();
  const metrics = recordingMetrics();
  const unread = metrics.gauge({ name: 'unread', help: '' }).with();
  const known = new KnownSessions({ store, clock, log, unread });
  known.start();
  const find = async () => {
    const found = known.peek(ID) ?? (await known.find(ID, 'acme'));
    if (found !== undefined) known.use(found);
    return found;
  };
  return { clock, store, log, metrics, known, find };
}

describe('KnownSessions', () => {
  it('looks once for an id, however many calls ask, and then asks no more while it is used', async () => {
    const { clock, store, known, find } = setUp();
    store.add(sessionOf());
    await Promise.all([known.find(ID, 'acme'), known.find(ID, 'acme'), known.find(ID, 'acme')]);
    expect(store.asked).toEqual([[ID]]);
    await find();
    for (let second = 0; second < 20; second += 1) {
      await clock.advance(1_000);
      expect(known.peek(ID)).toBeDefined();
    }
    // One statement a second, for all that is used.
    expect(store.asked.length).toBeLessThanOrEqual(27);
  });

  it('sees within a few seconds that another replica has ended it', async () => {
    const { clock, store, known, find } = setUp();
    store.add(sessionOf());
    await find();
    store.add(sessionOf({ endedAt: new Date(2_000), leftMs: 0 }));
    await clock.advance(1_300);
    expect(known.peek(ID)?.record.endedAt).not.toBeNull();
  });

  it('forgets what nobody has used for a minute: it asks for it again', async () => {
    const { clock, store, known, find } = setUp();
    store.add(sessionOf());
    await find();
    await clock.advance(70_000);
    const before = store.asked.length;
    expect(known.peek(ID)).toBeUndefined();
    await clock.advance(10_000);
    expect(store.asked.length).toBe(before);
  });

  it('remembers for a while that there is none, and no longer', async () => {
    const { clock, store, known } = setUp();
    expect(await known.find(ID, 'acme')).toBeUndefined();
    expect(await known.find(ID, 'acme')).toBeUndefined();
    expect(store.asked).toHaveLength(1);
    await clock.advance(5_001);
    store.add(sessionOf());
    expect(await known.find(ID, 'acme')).toBeDefined();
  });

  it('one tenant cannot have all lookups: others are still looked for', async () => {
    const { store, known } = setUp();
    store.hang();
    const flood = Array.from({ length: 80 }, (_, index) =>
      known.find(`ses_${index}`, 'flood').catch((error: Error) => error.message),
    );
    const answers = await Promise.race([Promise.any(flood), Promise.resolve('all wait')]);
    expect(answers).toBe('all wait');
    void known.find(ID, 'acme');
    expect(store.asked.at(-1)).toEqual([ID]);
    expect(store.asked.length).toBeLessThan(64);
  });

  it('tells the database of uses once a second, and a use keeps the session alive here at once', async () => {
    const { clock, store, known, find } = setUp();
    store.add(sessionOf({ idleMs: 10_000, leftMs: 10_000 }));
    await find();
    for (let round = 0; round < 5; round += 1) {
      await clock.advance(5_000);
      const found = known.peek(ID);
      expect(found?.overAt).toBeGreaterThan(clock.now());
      if (found !== undefined) known.use(found);
    }
    expect(store.touched.length).toBeGreaterThanOrEqual(5);
    expect(store.touched.every((ids) => ids.length === 1 && ids[0] === ID)).toBe(true);
  });

  it('while the database is away, what was known stays known, and it is said once', async () => {
    const { clock, store, log, metrics, known, find } = setUp();
    store.add(sessionOf());
    await find();
    store.away = true;
    await clock.advance(30_000);
    expect(known.peek(ID)).toBeDefined();
    await expect(known.find('ses_other', 'acme')).rejects.toMatchObject({ type: 'UNAVAILABLE' });
    expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
    expect(metrics.values.get('unread')).toBe(1);
    store.away = false;
    await clock.advance(2_000);
    expect(metrics.values.get('unread')).toBe(0);
  });

  it('a look that hangs counts as a database that is away', async () => {
    const { clock, store, known, find } = setUp();
    store.add(sessionOf());
    await find();
    store.hang();
    await clock.advance(30_000);
    expect(known.peek(ID)).toBeDefined();
  });

  it('is stopped at once, also while a statement hangs', async () => {
    const { clock, store, known, find } = setUp();
    store.add(sessionOf());
    await find();
    store.hang();
    await clock.advance(2_000);
    known.stop();
    expect(clock.pendingTimers).toBe(0);
  });
});
