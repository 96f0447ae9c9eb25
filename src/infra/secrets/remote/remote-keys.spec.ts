// Keys of a key service: a call asks it once, a flood in bounds, one that is away not at all, and memory ends what it holds.
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/helpers/fake-clock.ts';
import { quietLog } from '../../../../test/helpers/quiet-log.ts';
import type { WrappedDataKey } from '../../../ports/secrets/key-provider.ts';
import { KeyRefused, KeyServiceAway, NotUnwrapped, type KeyIds, type KeyService } from './key-service.ts';
import { RemoteKeys } from './remote-keys.ts';

const PLACE = { tenantId: 'acme', agent: 'desk', tool: 'mail', field: 'token' };
const wrappedAs = (name: string): WrappedDataKey => ({ keyId: 'x-1', wrapped: Buffer.from(name) });
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error: { reason?: string }) => error.reason,
  );

class FakeService implements KeyService {
  readonly kind = 'vault';
  /** Requests to unwrap, and the most of them at the same time. */
  unwraps = 0;
  most = 0;
  probes = 0;
  fault: Error | undefined;
  /** Until somebody lets them, requests to unwrap do not end. */
  gate: Promise<void> = Promise.resolve();
  #now = 0;

  async keyIds(): Promise<KeyIds> {
    this.probes += 1;
    if (this.fault !== undefined) throw this.fault;
    return ['x-2', 'x-1'];
  }

  reads(keyId: string): boolean {
    return keyId.startsWith('x-');
  }

  async wrap(): Promise<WrappedDataKey> {
    if (this.fault !== undefined) throw this.fault;
    return wrappedAs('fresh');
  }

  async unwrap({ wrapped }: WrappedDataKey, _place: unknown, signal: AbortSignal): Promise<Buffer> {
    this.unwraps += 1;
    this.#now += 1;
    this.most = Math.max(this.most, this.#now);
    try {
      const over = new Promise((_, no) => signal.addEventListener('abort', () => no(signal.reason as Error)));
      await Promise.race([this.gate, over]);
      if (this.fault !== undefined) throw this.fault;
      return Buffer.concat([wrapped, Buffer.alloc(32)]).subarray(0, 32);
    } finally {
      this.#now -= 1;
    }
  }

  async rotate(): Promise<void> {}
}

function kit(bounds: { cacheMs?: number; cacheKeys?: number } = {}) {
  const service = new FakeService();
  const clock = new FakeClock();
  const told: boolean[] = [];
  const counted = { answered: 0, failed: 0 };
  const keys = new RemoteKeys({
    service,
    clock,
    log: quietLog,
    tell: (isAway) => told.push(isAway),
    requests: {
      answered: { add: () => (counted.answered += 1) },
      failed: { add: () => (counted.failed += 1) },
    },
    cacheMs: 300_000,
    cacheKeys: 10_000,
    ...bounds,
  });
  return { service, clock, told, counted, keys };
}

describe('what was unwrapped', () => {
  it('stays in memory for its time and no longer, and a caller that overwrites its copy harms nobody', async () => {
    const { service, clock, keys } = kit({ cacheMs: 1_000 });
    const first = await keys.unwrap(wrappedAs('a'), PLACE);
    const before = Buffer.from(first);
    first.fill(0);
    expect(await keys.unwrap(wrappedAs('a'), PLACE)).toEqual(before);
    expect(service.unwraps).toBe(1);
    await clock.advance(1_001);
    expect(await keys.unwrap(wrappedAs('a'), PLACE)).toEqual(before);
    expect(service.unwraps).toBe(2);
  });

  it('is kept for its own place: the same data key for another one is asked for', async () => {
    const { service, keys } = kit();
    await keys.unwrap(wrappedAs('a'), PLACE);
    await keys.unwrap(wrappedAs('a'), { ...PLACE, tenantId: 'umbrella' });
    expect(service.unwraps).toBe(2);
  });

  it('is no more than so many keys: the least used goes', async () => {
    const { service, keys } = kit({ cacheKeys: 2 });
    for (const name of ['a', 'b', 'c', 'a']) await keys.unwrap(wrappedAs(name), PLACE);
    expect(service.unwraps).toBe(4);
  });

  it('is asked for once by all who want it at the same moment', async () => {
    const { service, keys } = kit();
    const all = await Promise.all(Array.from({ length: 50 }, () => keys.unwrap(wrappedAs('a'), PLACE)));
    expect(service.unwraps).toBe(1);
    all[0]?.fill(0);
    expect(all[1]?.subarray(0, 1).toString()).toBe('a');
  });
});

describe('a flood of secrets that are not in memory', () => {
  it('asks 16 at a time, lets 1,000 wait, and refuses the rest at once', async () => {
    const { service, keys } = kit();
    let open = () => {};
    service.gate = new Promise((done) => (open = done));
    const asked = Array.from({ length: 1_100 }, (_, at) => reasonOf(keys.unwrap(wrappedAs(`k${at}`), PLACE)));
    const refused = await Promise.all(asked.slice(1_016));
    expect(new Set(refused)).toEqual(new Set(['SECRETS_PROVIDER_AWAY']));
    expect(service.unwraps).toBe(16);
    open();
    expect(new Set(await Promise.all(asked.slice(0, 1_016)))).toEqual(new Set(['done']));
    expect([service.unwraps, service.most]).toEqual([1_016, 16]);
  });
});

describe('a service that is away', () => {
  it('is not asked by calls any more but probed, and what is in memory stays readable for its time', async () => {
    const { service, clock, told, keys } = kit({ cacheMs: 60_000 });
    keys.start();
    await clock.advance(0);
    await keys.unwrap(wrappedAs('a'), PLACE);
    service.fault = new KeyServiceAway('HTTP 503');
    expect(await reasonOf(keys.unwrap(wrappedAs('b'), PLACE))).toBe('SECRETS_PROVIDER_AWAY');
    expect(told).toEqual([true]);
    const { unwraps } = service;
    expect(await reasonOf(keys.unwrap(wrappedAs('c'), PLACE))).toBe('SECRETS_PROVIDER_AWAY');
    expect(await reasonOf(keys.wrap(Buffer.alloc(32), PLACE))).toBe('SECRETS_PROVIDER_AWAY');
    expect(service.unwraps).toBe(unwraps);
    expect(await reasonOf(keys.unwrap(wrappedAs('a'), PLACE))).toBe('done');
    await clock.advance(60_001);
    expect(await reasonOf(keys.unwrap(wrappedAs('a'), PLACE))).toBe('SECRETS_PROVIDER_AWAY');
    service.fault = undefined;
    await clock.advance(6_000);
    expect(told).toEqual([true, false]);
    expect(await reasonOf(keys.unwrap(wrappedAs('a'), PLACE))).toBe('done');
    keys.stop();
  });

  it('is one that says nothing for three seconds, too', async () => {
    const { service, clock, keys } = kit();
    service.gate = new Promise(() => {});
    const asked = reasonOf(keys.unwrap(wrappedAs('a'), PLACE));
    await clock.advance(3_001);
    expect(await asked).toBe('SECRETS_PROVIDER_AWAY');
    expect(keys.isAway).toBe(true);
  });

  it('is told at the start, and started without; probes are few while it answers', async () => {
    const { service, clock, told, counted, keys } = kit();
    service.fault = new KeyServiceAway('connection refused');
    keys.start();
    await clock.advance(0);
    expect([told, keys.isAway]).toEqual([[true], true]);
    await expect(keys.keyIds()).rejects.toMatchObject({ reason: 'SECRETS_PROVIDER_AWAY', retryable: true });
    service.fault = undefined;
    await clock.advance(6_000);
    expect(await keys.keyIds()).toEqual(['x-2', 'x-1']);
    const { probes } = service;
    await clock.advance(300_000);
    expect(service.probes - probes).toBeLessThanOrEqual(5);
    expect(counted.failed).toBeGreaterThan(0);
    keys.stop();
  });

  it('is not one that refuses a single key, nor is what was changed', async () => {
    const { service, told, keys } = kit();
    service.fault = new KeyRefused('DisabledException');
    expect(await reasonOf(keys.unwrap(wrappedAs('a'), PLACE))).toBe('SECRETS_PROVIDER_AWAY');
    service.fault = new NotUnwrapped('message authentication failed');
    expect(await reasonOf(keys.unwrap(wrappedAs('a'), PLACE))).toBe('SECRET_UNREADABLE');
    expect([told, keys.isAway]).toEqual([[], false]);
  });
});
