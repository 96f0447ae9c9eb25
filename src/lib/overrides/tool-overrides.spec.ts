// Overrides: which entries are for a tool, and which of them has the last word.
import { expect, it } from 'vitest';
import { declaredBy, overrideFor, toolOverrides, unusedOverrides } from './tool-overrides.ts';

const schema = toolOverrides({ riskLevels: ['low', 'high'], modes: ['voice', 'text'], matches: 'name' });

it('a later entry goes over an earlier one, field by field, and a name over all globs', () => {
  const overrides = schema.parse({
    delete_all: { risk_level: 'high' },
    'delete_*': { risk_level: 'low', timeout_ms: 5 },
    '*_all': { timeout_ms: 7, off: true },
  });
  expect(overrideFor(overrides, ['delete_all'])).toEqual({ risk_level: 'high', timeout_ms: 7, off: true });
  expect(overrideFor(overrides, ['delete_one'])).toEqual({ risk_level: 'low', timeout_ms: 5 });
  expect(overrideFor(overrides, ['read'])).toEqual({});
});

it('a tool is known by any of its names', () => {
  const overrides = schema.parse({ 'DELETE *': { requires_approval: true } });
  expect(overrideFor(overrides, ['remove', 'DELETE /users/{id}'])).toEqual({ requires_approval: true });
});

it('tells which entries fit nothing', () => {
  const overrides = schema.parse({ read: {}, reed: {}, '*_all': {} });
  expect(unusedOverrides(overrides, [['read'], ['delete_all', 'DELETE /all']])).toEqual(['reed']);
});

it('gives parts of a declaration, and leaves out what is not said', () => {
  const [override = {}] = Object.values(
    schema.parse({
      a: {
        description: 'Reads.',
        read_only: true,
        modes: ['text'],
        rate_limits: [{ rate: 1, period: '1m' }],
      },
    }),
  );
  expect(declaredBy(override)).toEqual({
    fields: {
      description: 'Reads.',
      rate_limits: [{ per: 'tool', rate: 1, period: '1m', mode: 'enforce' }],
    },
    metadata: { read_only: true, modes: ['text'] },
  });
});

it.each([
  ['an unknown field', { a: { risk: 'high' } }],
  ['an unknown risk', { a: { risk_level: 'huge' } }],
  ['a limit without a period', { a: { rate_limits: [{ rate: 1 }] } }],
  ['an empty description', { a: { description: ' ' } }],
])('refuses %s', (_, overrides) => {
  expect(schema.safeParse(overrides).success).toBe(false);
});
