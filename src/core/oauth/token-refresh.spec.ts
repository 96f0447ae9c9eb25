// TokenRefresh: one request for everybody, what was fetched is stored before it is used, and a refusal ends it.
import { describe, expect, it } from 'vitest';
import { settled } from '../../../test/helpers/fake-clock.ts';
import { MemoryConnections, markingSealer, RotatingProvider } from '../../../test/helpers/oauth-kit.ts';
import { quietLog } from '../../../test/helpers/quiet-log.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { GrantRefused } from '../../ports/oauth/oauth-provider.ts';
import type { Connection } from '../../ports/oauth/connection-store.ts';
import { TokenRefresh } from './token-refresh.ts';

function kit() {
  const store = new MemoryConnections();
  store.connect();
  const provider = new RotatingProvider();
  const outcomes: string[] = [];
  const replica = () =>
    new TokenRefresh({
      store,
      known: store,
      sealer: markingSealer,
      clock: store.clock,
      log: quietLog,
      outcomes: { with: (_provider, outcome = '') => ({ add: () => void outcomes.push(outcome) }) },
      random: () => 0.5,
    });
  const row = (): Connection => {
    if (store.row === undefined) throw new Error('there is no connection');
    return store.row;
  };
  return { store, provider, outcomes, replica, row };
}

const tokenOf = (sealed: string | undefined) => sealed?.split('|')[1];

describe('a refresh', () => {
  it('is one request for all who ask, in this process and in others', async () => {
    const { provider, replica, row, outcomes, store } = kit();
    const [one, two] = [replica(), replica()];
    const before = row();
    const all = [one, one, two, two].map((each) => each.refresh(before, provider));
    await store.clock.advance(1_000);
    const found = await Promise.all(all);
    expect(provider.refreshes).toBe(1);
    expect(found.map((each) => tokenOf(each?.connection.sealed.access_token))).toEqual(
      Array.from({ length: 4 }, () => 'access-2'),
    );
    expect(outcomes).toEqual(['refreshed']);
  });

  it('keeps the rotated refresh token, and uses that the next time', async () => {
    const { provider, replica, row } = kit();
    const one = replica();
    await one.refresh(row(), provider);
    await one.refresh(row(), provider);
    expect([provider.refreshes, tokenOf(row().sealed.refresh_token)]).toEqual([2, 'refresh-3']);
  });

  it('gives nobody the new token before it is stored, and tries until it is', async () => {
    const { provider, replica, row, store, outcomes } = kit();
    store.failingRenewals = 5;
    let isThere = false;
    const done = replica()
      .refresh(row(), provider)
      .then(() => (isThere = true));
    await settled();
    expect([provider.refreshes, isThere]).toEqual([1, false]);
    await store.clock.advance(30_000);
    await done;
    expect([provider.refreshes, tokenOf(row().sealed.refresh_token)]).toEqual([1, 'refresh-2']);
    expect(outcomes).toEqual(['refreshed']);
  });

  it('of an account that is disconnected meanwhile has its token revoked as well', async () => {
    const { provider, replica, row, store } = kit();
    const before = row();
    const revoked: string[] = [];
    provider.revoke = async (token: string) => revoked.push(token) > 0;
    const refresh = provider.refresh.bind(provider);
    provider.refresh = async (token: string) => {
      const granted = await refresh(token);
      store.row = undefined;
      return granted;
    };
    expect(await replica().refresh(before, provider)).toBeNull();
    expect(revoked).toEqual(['refresh-2']);
  });

  it('of a replica that died is made by another when the lease is over', async () => {
    const { provider, replica, row, store } = kit();
    await store.claim(row(), row().version, 60_000);
    const [late, soon] = [replica(), replica()];
    const waiting = soon.refresh(row(), provider).catch((error: unknown) => error);
    await store.clock.advance(13_000);
    expect(await waiting).toMatchObject({ reason: 'TOKEN_UNAVAILABLE', retryable: true });
    expect(provider.refreshes).toBe(0);
    await store.clock.advance(60_000);
    expect(await late.refresh(row(), provider)).not.toBeNull();
    expect(provider.refreshes).toBe(1);
  });

  it('whose answer comes after another replica has stored its own changes nothing', async () => {
    const { provider, replica, row, store, outcomes } = kit();
    const open = Promise.withResolvers<void>();
    provider.gate = open.promise;
    const slow = replica().refresh(row(), provider);
    await settled();
    store.connect({ scopes: ['read', 'more'] });
    open.resolve();
    const found = await slow;
    expect(found?.connection).toMatchObject({ scopes: ['read', 'more'] });
    expect([tokenOf(row().sealed.refresh_token), outcomes]).toEqual(['refresh-1', ['lost']]);
  });

  it('that the provider refuses ends the connection, unless it was made anew meanwhile', async () => {
    const { provider, replica, row, store, outcomes } = kit();
    provider.failure = new GrantRefused('invalid_grant');
    expect((await replica().refresh(row(), provider))?.connection.state).toBe('needs_reauth');
    expect(row()).toMatchObject({ state: 'needs_reauth', problem: 'invalid_grant' });
    store.connect();
    const before = row();
    store.connect();
    await store.expire(before, before.version, 'invalid_grant');
    expect([row().state, outcomes]).toEqual(['connected', ['needs_reauth']]);
  });

  it('that failed leaves the provider alone for ten seconds, and gives the lease back', async () => {
    const { provider, replica, row, store, outcomes } = kit();
    provider.failure = toolFailure('TOKEN_UNAVAILABLE', 'away');
    const one = replica();
    for (let calls = 0; calls < 5; calls += 1)
      await expect(one.refresh(row(), provider)).rejects.toMatchObject({ reason: 'TOKEN_UNAVAILABLE' });
    expect([provider.refreshes, row().problem, outcomes]).toEqual([1, 'TOKEN_UNAVAILABLE', ['failed']]);
    provider.failure = undefined;
    await store.clock.advance(10_001);
    expect((await one.refresh(row(), provider))?.connection.problem).toBe('');
  });

  it('under way when the gateway stops gets a moment to be stored, and no more', async () => {
    const { provider, replica, row, store } = kit();
    const [one, two] = [replica(), replica()];
    const open = Promise.withResolvers<void>();
    provider.gate = open.promise;
    const done = one.refresh(row(), provider);
    await settled();
    const stopping = one.stop();
    open.resolve();
    await Promise.all([done, stopping]);
    expect(tokenOf(row().sealed.refresh_token)).toBe('refresh-2');
    store.failingRenewals = Number.POSITIVE_INFINITY;
    const lost = two.refresh(row(), provider).catch((error: unknown) => error);
    await settled();
    const ended = two.stop();
    await store.clock.advance(2_500);
    await ended;
    expect(await lost).toMatchObject({ reason: 'DATABASE_UNAVAILABLE' });
  });
});
