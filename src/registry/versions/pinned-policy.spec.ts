// The policy of a pinned version is never weaker than that of the version in force, nor than its own.
import * as fc from 'fast-check';
import { z } from 'zod';
import { describe, expect, it } from 'vitest';
import { specOf } from '../../../test/helpers/call-kit.ts';
import { isUnsafe, type RiskLevel } from '../../contract/tool/tool-spec.ts';
import { underPolicyOf } from './pinned-policy.ts';
import type { SpecRules } from '../spec-rules.ts';

const RISKS: readonly RiskLevel[] = ['low', 'medium', 'high', 'critical'];
const NO_RULES: SpecRules = { executors: new Map(), extensions: new Map() };

const metadata = fc.record({
  permissions: fc.uniqueArray(fc.constantFrom('a:use', 'b:use', 'c:use')),
  riskLevel: fc.constantFrom(...RISKS),
  isDangerous: fc.boolean(),
  requiresApproval: fc.boolean(),
  modes: fc.uniqueArray(fc.constantFrom('voice' as const, 'text' as const), { minLength: 1 }),
});

describe('underPolicyOf', () => {
  it('asks for all that either version asks for', () => {
    fc.assert(
      fc.property(metadata, metadata, (was, now) => {
        const [pinned, inForce] = [specOf({ metadata: was }), specOf({ metadata: now })];
        const held = underPolicyOf(pinned, inForce, NO_RULES).metadata;
        for (const each of [was, now]) {
          expect(held.permissions).toEqual(expect.arrayContaining(each.permissions));
          expect(RISKS.indexOf(held.riskLevel)).toBeGreaterThanOrEqual(RISKS.indexOf(each.riskLevel));
          expect(held.modes.every((mode) => each.modes.some((said) => said === mode))).toBe(true);
        }
        expect(isUnsafe(held)).toBe(isUnsafe(pinned.metadata) || isUnsafe(inForce.metadata));
      }),
    );
  });

  it('has the limits in force, and does what it did', () => {
    const pinned = specOf({
      contentHash: 'old',
      implementationConfig: { do: 'old' },
      timeoutMs: 60_000,
      metadata: { readOnly: true },
    });
    const rateLimits = [
      { per: 'tool', rate: 1, periodMs: 1000, burst: 1, onStoreFailure: 'closed', mode: 'enforce' },
    ] as const;
    const held = underPolicyOf(
      pinned,
      specOf({ rateLimits, timeoutMs: 500, resultBudget: { maxItems: 3 } }),
      NO_RULES,
    );
    expect(held).toMatchObject({
      contentHash: 'old',
      implementationConfig: { do: 'old' },
      timeoutMs: 500,
      rateLimits,
      resultBudget: { maxItems: 3 },
    });
    expect(held.metadata.readOnly).toBe(true);
  });

  it('is of the category in force, and has the tags of both: rules of policies name them', () => {
    const pinned = specOf({ metadata: { category: 'action', tags: ['old'] } });
    const inForce = specOf({ metadata: { category: 'utility', tags: ['pii'] } });
    expect(underPolicyOf(pinned, inForce, NO_RULES).metadata).toMatchObject({
      category: 'utility',
      tags: ['old', 'pii'],
    });
    const silent = specOf({ metadata: { category: undefined } });
    expect(underPolicyOf(pinned, silent, NO_RULES).metadata.category).toBe('action');
  });

  it('keeps rules in force that do not fit the version, so that it cannot be called', () => {
    const policy = {
      name: 'policy',
      optionsSchema: z.object({ tool_rules: z.array(z.unknown()) }),
      check: () => [{ path: [], message: 'there is no field "value"' }],
    };
    const rules: SpecRules = { executors: new Map(), extensions: new Map([['policy', policy]]) };
    const inForce = specOf({ extensions: { policy: { tool_rules: [{ name: 'a' }] } } });
    const pinned = specOf({ extensions: { policy: { tool_rules: [] } } });
    expect(underPolicyOf(pinned, inForce, rules).extensions).toEqual(inForce.extensions);
  });

  it('leaves out options in force that the version cannot have, and keeps its own', () => {
    const cache = {
      name: 'cache',
      optionsSchema: z.object({ ttl_ms: z.number() }),
      check: (fn: { spec: { metadata: { readOnly: boolean } } }) =>
        fn.spec.metadata.readOnly ? [] : [{ path: [], message: 'only what is read only' }],
    };
    const open = { name: 'open', optionsSchema: z.object({}) };
    const rules: SpecRules = {
      executors: new Map(),
      extensions: new Map([
        ['cache', cache],
        ['open', open],
      ]),
    };
    const inForce = specOf({
      extensions: { cache: { ttl_ms: 1 }, open: { new: true } },
      metadata: { readOnly: true },
    });
    const own = { open: { new: false }, mine: {} };
    expect(underPolicyOf(specOf({ extensions: own }), inForce, rules).extensions).toEqual({
      open: { new: true },
      mine: {},
    });
    const reads = specOf({ metadata: { readOnly: true } });
    expect(underPolicyOf(reads, inForce, rules).extensions).toEqual(inForce.extensions);
  });
});
