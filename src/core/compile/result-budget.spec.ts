// Result budgets: whole items only, the rest counted, and a cursor that walks the whole list exactly once.
import { array, assert, integer, oneof, property, record, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callOf, functionOf, requestOf } from '../../../test/helpers/call-kit.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { JsonValue } from '../../contract/json.ts';
import type { ResultBudget } from '../../contract/tool/tool-spec.ts';
import { startOf, withinBudget } from './result-budget.ts';

function reader(resultBudget: ResultBudget, readOnly = true) {
  return functionOf({ resultBudget, metadata: { readOnly } });
}

function callWith(cursor?: string, args = {}) {
  return callOf({
    request: requestOf({ arguments: args }),
    context: { tenantId: 'acme', ...(cursor && { cursor }) },
  });
}

describe('withinBudget', () => {
  it('leaves alone what fits', () => {
    const budget = { maxItems: 3, maxBytes: 1000 };
    expect(withinBudget([1, 2, 3], budget, reader(budget), callWith())).toEqual({ data: [1, 2, 3] });
  });

  it('cuts the longest list of an object and keeps the rest of it', () => {
    const budget = { maxItems: 2 };
    const data = { total: 9, tags: ['a'], rows: [1, 2, 3, 4] };
    const { data: kept, truncated } = withinBudget(data, budget, reader(budget), callWith());
    expect(kept).toEqual({ total: 9, tags: ['a'], rows: [1, 2] });
    expect(truncated).toMatchObject({ pointer: '/rows', kept: 2, omitted: 2 });
  });

  it('gives no cursor for a tool that may not run again', () => {
    const budget = { maxItems: 1 };
    const { truncated } = withinBudget([1, 2], budget, reader(budget, false), callWith());
    expect(truncated).toEqual({ pointer: '', kept: 1, omitted: 1 });
  });

  it('refuses what cannot be cut at a whole item', () => {
    const budget = { maxBytes: 300 };
    for (const data of ['x'.repeat(400), ['x'.repeat(400)], { note: 'x'.repeat(400), rows: [1] }]) {
      expect(() => withinBudget(data, budget, reader(budget), callWith())).toThrow(ToolFailure);
    }
  });

  it('a cursor of another call is refused', () => {
    const budget = { maxItems: 1 };
    const fn = reader(budget);
    const { truncated } = withinBudget([1, 2], budget, fn, callWith(undefined, { q: 'a' }));
    expect(() => startOf(fn, callWith(truncated?.cursor, { q: 'b' }))).toThrow('context.cursor');
    expect(() => startOf(fn, callWith('-1.0000000000000000', { q: 'a' }))).toThrow('context.cursor');
  });

  it('any list is read whole by following the cursors, every answer within the budget', () => {
    const items = array(oneof(string({ maxLength: 40 }), integer(), record({ n: integer() })), {
      maxLength: 60,
    });
    assert(
      property(
        items,
        integer({ min: 1, max: 20 }),
        integer({ min: 300, max: 2000 }),
        (list, maxItems, maxBytes) => {
          const budget = { maxItems, maxBytes };
          const fn = reader(budget);
          const seen: JsonValue[] = [];
          let cursor: string | undefined;
          do {
            const { data, truncated } = withinBudget(list, budget, fn, callWith(cursor));
            const page = data as JsonValue[];
            expect(page.length).toBeLessThanOrEqual(maxItems);
            expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThanOrEqual(maxBytes);
            seen.push(...page);
            cursor = truncated?.cursor;
            expect(truncated?.omitted ?? 0).toBe(list.length - seen.length);
          } while (cursor !== undefined);
          expect(seen).toEqual(list);
        },
      ),
    );
  });
});
