// API keys: who is let in, and what the one who is not learns.
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { holds, NO_CREDENTIAL } from '../../contract/call/principal.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { createApiKey } from '../../lib/secrets/api-key.ts';
import { AnonymousAuthenticator, ApiKeyAuthenticator } from './api-key-authenticator.ts';
import type { StoredKey } from './known-key.ts';

function keyOf(changes: Partial<StoredKey> = {}) {
  const { text, id, secretHash } = createApiKey();
  const stored = {
    id,
    secret_sha256: secretHash.toString('hex'),
    tenant: 'acme',
    agents: ['*'],
    roles: ['agent'],
    ...changes,
  };
  return { text, stored };
}

const bearer = (token: string) => ({ kind: 'bearer', token }) as const;

function refusalOf(attempt: () => unknown): ToolFailure {
  try {
    attempt();
  } catch (error) {
    if (error instanceof ToolFailure) return error;
    throw error;
  }
  throw new Error('it was let in');
}

describe('ApiKeyAuthenticator', () => {
  it('knows a key by its text and gives its tenant, user and permissions', () => {
    const { text, stored } = keyOf({ user: 'ann', roles: ['agent', 'clerk'] });
    const authenticator = new ApiKeyAuthenticator([stored], { clerk: ['notes:*'] }, new FakeClock());
    const principal = authenticator.authenticate(bearer(text));
    expect(principal).toMatchObject({
      id: stored.id,
      tenantId: 'acme',
      userId: 'ann',
      roles: ['agent', 'clerk'],
    });
    expect(holds(principal, 'tools:call')).toBe(true);
    expect(holds(principal, 'notes:read')).toBe(true);
    expect(holds(principal, 'admin')).toBe(false);
  });

  it('says the same of an unknown id and of a text that is no key', () => {
    const stranger = createApiKey().text;
    const authenticator = new ApiKeyAuthenticator([keyOf().stored], {}, new FakeClock());
    const told = [stranger, 'ute_live_', '', 'x'.repeat(10_000)].map((token) => {
      const { type, reason, message } = refusalOf(() => authenticator.authenticate(bearer(token)));
      return `${type} ${reason} ${message}`;
    });
    expect(new Set(told)).toEqual(new Set(['AUTH CREDENTIAL_INVALID The credential is not valid.']));
  });

  it('refuses a right secret under the id of another key', () => {
    const [one, two] = [keyOf(), keyOf()];
    const swapped = { ...one.stored, id: two.stored.id };
    const authenticator = new ApiKeyAuthenticator([swapped], {}, new FakeClock());
    expect(refusalOf(() => authenticator.authenticate(bearer(one.text))).reason).toBe('CREDENTIAL_INVALID');
    expect(refusalOf(() => authenticator.authenticate(bearer(two.text))).reason).toBe('CREDENTIAL_INVALID');
  });

  it('tells who shows nothing that a credential is needed, and who shows two that one is', () => {
    const authenticator = new ApiKeyAuthenticator([], {}, new FakeClock());
    expect(refusalOf(() => authenticator.authenticate(NO_CREDENTIAL)).reason).toBe('CREDENTIAL_MISSING');
    const several = refusalOf(() => authenticator.authenticate({ kind: 'several' }));
    expect([several.type, several.reason]).toEqual(['AUTH', 'CREDENTIALS_DIFFER']);
  });

  it('lets a key in until the moment it expires', () => {
    const clock = new FakeClock(Date.parse('2026-01-01T00:00:00Z'));
    const { text, stored } = keyOf({ expires_at: '2026-01-01T00:00:01Z' });
    const authenticator = new ApiKeyAuthenticator([stored], {}, clock);
    clock.jumpTo(Date.parse('2026-01-01T00:00:00.999Z'));
    expect(authenticator.authenticate(bearer(text)).id).toBe(stored.id);
    clock.jumpTo(Date.parse('2026-01-01T00:00:01Z'));
    expect(refusalOf(() => authenticator.authenticate(bearer(text))).reason).toBe('CREDENTIAL_EXPIRED');
  });

  it('is not built with a role that is not there, or with one id twice', () => {
    const { stored } = keyOf({ roles: ['ghost'] });
    expect(() => new ApiKeyAuthenticator([stored], {}, new FakeClock())).toThrow(
      /role "ghost".*none of admin, agent/,
    );
    const inherited = keyOf({ roles: ['constructor'] }).stored;
    expect(() => new ApiKeyAuthenticator([inherited], {}, new FakeClock())).toThrow(/role "constructor"/);
    const twice = keyOf().stored;
    expect(() => new ApiKeyAuthenticator([twice, twice], {}, new FakeClock())).toThrow(
      `two keys have the id ${twice.id}`,
    );
  });
});

it('AnonymousAuthenticator makes everybody admin', () => {
  expect(holds(new AnonymousAuthenticator().authenticate(), 'anything:at_all')).toBe(true);
});
