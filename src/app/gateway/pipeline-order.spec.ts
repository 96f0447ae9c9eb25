// The order of both stages, and what of an order cannot be: each fault at its place, and none that only follows from another.
import { expect, it } from 'vitest';
import { REQUEST_EXTENSIONS, TOOL_EXTENSIONS } from '../../extensions/index.ts';
import { settingsSchema } from '../../settings/settings-schema.ts';
import { orderOf } from './pipeline-order.ts';

const request = REQUEST_EXTENSIONS.map((plugin) => ({ plugin }));
const tool = TOOL_EXTENSIONS.map((plugin) => ({ plugin }));
const ordered = (said: object) => orderOf(settingsSchema.parse(said), { request, tool, custom: [] });

it('is that of the lists where nothing is said, and rules of tools are kept in it', () => {
  expect(ordered({})).toEqual({ request, tool, isPolicyEnforced: true, faults: [] });
});

it('tells of a misspelt name alone: what the order seems to leave out may be what was meant', () => {
  const { faults } = ordered({ pipeline: { tool: ['validation', 'admision'] }, budgets: {} });
  expect(faults).toEqual([
    {
      path: ['pipeline', 'tool', '1'],
      message: expect.stringContaining('there is no extension "admision" here; did you mean "admission"?'),
    },
  ]);
});

it('tells of all that settings ask for and the order leaves undone', () => {
  const { faults, isPolicyEnforced } = ordered({
    pipeline: { tool: ['validation'] },
    budgets: {},
    extensions: { policy: {} },
  });
  expect(faults.map(({ path }) => path.join('.'))).toEqual(['pipeline.tool', 'pipeline.tool']);
  expect(isPolicyEnforced).toBe(false);
});
