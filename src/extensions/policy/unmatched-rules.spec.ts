// Rules that name no tool: each name is told where it stands, and none that some tool has.
import { expect, it } from 'vitest';
import { functionOf } from '../../../test/helpers/call-kit.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { ToolSet } from '../../contract/tool/tool-set.ts';
import { atOnce } from '../../lib/concurrency/in-slices.ts';
import { policyOptionsSchema } from './options.ts';
import { unmatchedRules } from './unmatched-rules.ts';

function unmatched(rule: object, ...functions: readonly ToolFunction[]) {
  const options = policyOptionsSchema.parse({ rules: [{ name: 'a', decision: 'deny', ...rule }] });
  const set = { functions, specs: functions.map(({ spec }) => spec) } as unknown as ToolSet;
  return atOnce(unmatchedRules(options, set));
}

const pay = functionOf({ name: 'bank.pay', metadata: { category: 'money' } });

it.each([
  [{}],
  [{ tools: [pay.name] }],
  [{ tools: ['bank*'] }],
  [{ tools: ['ban?.pay'] }],
  [{ categories: ['money'] }],
  [{ categories: ['mon*'], tools: ['*'] }],
])('a rule for %j is for a tool that is there', (rule) => {
  expect(unmatched(rule, pay)).toEqual([]);
});

it('tells of each name and each category that no tool has, and what was probably meant', () => {
  expect(unmatched({ tools: [pay.name, 'bank.pya', 'shop.*'], categories: ['mony'] }, pay)).toEqual([
    {
      path: ['rules', 0, 'tools', 1],
      message:
        'there is no tool or function "bank.pya", so the rule "a" holds for none of that name; did you mean "bank.pay"?',
    },
    {
      path: ['rules', 0, 'tools', 2],
      message: 'there is no tool or function "shop.*", so the rule "a" holds for none of that name',
    },
    {
      path: ['rules', 0, 'categories', 0],
      message:
        'there is no category "mony", so the rule "a" holds for none of that name; did you mean "money"?',
    },
  ]);
});

it('knows the name of a tool that is on trial in place of another', () => {
  const tried = functionOf({ name: 'pay', canary: { tool: 'pay_v2', percent: 5, by: 'tenant' } });
  expect(unmatched({ tools: ['pay_v2'] }, tried)).toEqual([]);
});

it('tells of the first fifty names alone, since each of them was compared with those of all tools', () => {
  const tools = Array.from({ length: 100 }, (_, at) => `x${at}`);
  const faults = unmatched({ tools }, pay);
  expect(faults).toHaveLength(50);
  expect(faults.at(-1)).toMatchObject({ path: ['rules', 0, 'tools', 49] });
});
