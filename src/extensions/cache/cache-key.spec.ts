// The key of an answer: different callers, tools and arguments never share one; the order of arguments does not matter.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callOf, functionOf } from '../../../test/helpers/call-kit.ts';
import type { JsonObject } from '../../contract/json.ts';
import { cacheKeyOf } from './cache-key.ts';
import { cacheOptionsSchema } from './options.ts';

interface Asked {
  readonly tenantId: string;
  readonly sessionId: string;
  readonly agentId: string;
  readonly userId: string;
  readonly tool: string;
  readonly contentHash: string;
  readonly arguments: JsonObject;
  readonly config: JsonObject;
  readonly secret: JsonObject;
}

const BASE: Asked = {
  tenantId: 'acme',
  sessionId: 's1',
  agentId: 'a1',
  userId: 'u1',
  tool: 'hours',
  contentHash: 'c0ffee',
  arguments: { day: 'monday' },
  config: {},
  secret: {},
};

function keyOf(asked: Partial<Asked>, options: Record<string, unknown> = {}): string | undefined {
  const { tenantId, sessionId, agentId, userId, tool, contentHash, ...rest } = { ...BASE, ...asked };
  const fn = functionOf({ name: tool, contentHash });
  const context = { tenantId, sessionId, agentId, userId };
  const call = callOf({
    context,
    arguments: rest.arguments,
    config: rest.config,
    sensitiveConfig: rest.secret,
  });
  return cacheKeyOf(call, fn, cacheOptionsSchema.parse({ ttl_ms: 1_000, ...options }));
}

/** Short words of few letters, and those that a key put together by hand would trip over. */
const word = fc.oneof(
  fc.string({ minLength: 1, maxLength: 3, unit: fc.constantFrom('a', 'b', ':', '|', ',', '"', '\\', '[') }),
  fc.constantFrom('acme', 's1', 'toString', '__proto__'),
);
const args: fc.Arbitrary<JsonObject> = fc.dictionary(
  word,
  fc.oneof(word, fc.integer({ min: 0, max: 2 }), fc.boolean(), fc.constant(null)),
  { maxKeys: 2, noNullPrototype: true },
);
const asked: fc.Arbitrary<Asked> = fc.record({
  tenantId: word,
  sessionId: word,
  agentId: word,
  userId: word,
  tool: word,
  contentHash: word,
  arguments: args,
  config: args,
  secret: args,
});

describe('cacheKeyOf', () => {
  it('is another for whatever differs in tenant, session, agent, user, tool, content, arguments or configuration', () => {
    fc.assert(
      fc.property(asked, asked, (one, other) => {
        const same = canonical(one) === canonical(other);
        expect(keyOf(one) === keyOf(other)).toBe(same);
      }),
      { numRuns: 500 },
    );
  });

  it('is another for a change in any one of them', () => {
    const changes: Partial<Asked>[] = [
      { tenantId: 'umbrella' },
      { sessionId: 's2' },
      { agentId: 'a2' },
      { userId: 'u2' },
      { tool: 'prices' },
      { contentHash: 'decaf' },
      { arguments: { day: 'tuesday' } },
      { arguments: {} },
      { config: { calendar: 'work' } },
      { secret: { calendar: 'work' } },
    ];
    const keys = [BASE, ...changes].map((change) => keyOf(change));
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('does not depend on the order of arguments', () => {
    expect(keyOf({ arguments: { a: 1, b: { c: 2, d: 3 } } })).toBe(
      keyOf({ arguments: { b: { d: 3, c: 2 }, a: 1 } }),
    );
  });

  it('is shared as far as the scope says', () => {
    const other = { sessionId: 's2', agentId: 'a2', userId: 'u2' };
    expect(keyOf({}, { scope: 'tenant' })).toBe(keyOf(other, { scope: 'tenant' }));
    expect(keyOf({}, { scope: 'tenant' })).not.toBe(keyOf({ tenantId: 'umbrella' }, { scope: 'tenant' }));
    expect(keyOf({}, { scope: 'global' })).toBe(
      keyOf({ ...other, tenantId: 'umbrella' }, { scope: 'global' }),
    );
    const scopes = ['session', 'tenant', 'global'].map((scope) => keyOf({}, { scope }));
    expect(new Set(scopes).size).toBe(3);
    expect(keyOf({ config: { a: 1 } }, { scope: 'global' })).not.toBe(keyOf({}, { scope: 'global' }));
  });

  it('is none without a session for answers of a session', () => {
    expect(keyOf({ sessionId: '' })).toBeUndefined();
    expect(keyOf({ sessionId: '' }, { scope: 'tenant' })).toBeDefined();
  });

  it('is none for arguments without a canonical form', () => {
    expect(keyOf({ arguments: { text: '\uD800' } })).toBeUndefined();
  });

  it('is another when the times are', () => {
    expect(keyOf({}, { ttl_ms: 2_000 })).not.toBe(keyOf({}));
    expect(keyOf({}, { stale_if_error_ms: 5 })).not.toBe(keyOf({}));
  });
});

function canonical(value: Asked): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1))
      : member,
  );
}
