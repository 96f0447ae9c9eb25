// A misspelt tool: its caller learns the name that was probably meant, and no name that it may not call.
import { describe, expect, it } from 'vitest';
import { callOf, functionOf, principalOf, requestOf, compiledOf } from '../../test/helpers/call-kit.ts';
import { holds } from '../contract/call/principal.ts';
import type { ShownTo } from '../contract/tool/tool-function.ts';
import { snapshotOf } from '../registry/tool-spec-registry.ts';
import { noSuchTool } from './no-such-tool.ts';

const free = functionOf({ name: 'calculate_sum' });
const guarded = functionOf({ name: 'delete_note', metadata: { permissions: ['notes:delete'] } });
const isShownTo: ShownTo = ({ principal }) => holds(principal, 'notes:delete');
const many = Array.from({ length: 5_000 }, (_, index) => functionOf({ name: `calc_${index}` }));

function said(tool: string, permissions: readonly string[] = [], functions = [free, guarded]) {
  const snapshot = snapshotOf(
    functions.map(({ spec }) => spec),
    functions.map((fn) => (fn === guarded ? { ...compiledOf(fn), isShownTo } : compiledOf(fn))),
  );
  const principal = principalOf({ permissions: new Set(permissions) });
  return noSuchTool(callOf({ request: requestOf({ tool }), snapshot, principal }));
}

describe('a call of a tool that is not there', () => {
  it.each(['calculate_sun', 'calculatesum', 'calculate', 'Calculate_sum', 'alculate_sum', 'calcualte_sum'])(
    'is told what was probably meant: %s',
    (tool) => {
      expect(said(tool)).toMatchObject({
        type: 'NOT_FOUND',
        reason: 'TOOL_NOT_FOUND',
        message: 'There is no tool of this name. Did you mean "calculate_sum"?',
      });
    },
  );

  it.each(['', 'x', 'send_mail', 'calculate_sum_of_all_the_numbers', 'c'.repeat(100_000)])(
    'is told nothing where nothing is near',
    (tool) => {
      expect(said(tool).message).toBe('There is no tool of this name.');
    },
  );

  it('is told no name of a tool that it may not call', () => {
    expect(said('delete_not', ['notes:read']).message).toBe('There is no tool of this name.');
    expect(said('delete_not', ['notes:delete']).message).toContain('Did you mean "delete_note"?');
  });

  it('is compared with few of many names', () => {
    expect(said('calc_17', [], [...many.filter(({ name }) => name !== 'calc_17'), free]).message).toContain(
      'Did you mean "calc_',
    );
  });
});
