// Rules of gateway.yaml without a tool: looked up whenever tools change, told once, and no more once the tool is there.
import { expect, it } from 'vitest';
import { functionOf, recordingLog } from '../../../test/helpers/call-kit.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { ToolSet } from '../../contract/tool/tool-set.ts';
import type { ToolCatalog } from '../../ports/registry/tool-catalog.ts';
import { UnmatchedPolicy } from './unmatched-policy.ts';

class Tools {
  listener: ((set: ToolSet) => void) | undefined;

  onChange(listener: (set: ToolSet) => void) {
    this.listener = listener;
    return () => (this.listener = undefined);
  }

  are(...functions: readonly ToolFunction[]): void {
    this.listener?.({ functions, specs: functions.map(({ spec }) => spec) } as unknown as ToolSet);
  }
}

function following(rules: readonly object[]) {
  const [tools, log] = [new Tools(), recordingLog()];
  const settings = { extensions: { policy: { rules } } } as never;
  const policy = new UnmatchedPolicy(settings, tools as unknown as ToolCatalog, log);
  return { policy, tools, log };
}

it('tells once of a rule whose tool is not there, and takes it back when it comes', async () => {
  const { policy, tools, log } = following([{ name: 'no-pay', tools: ['pay'], decision: 'deny' }]);
  tools.are(functionOf({ name: 'greet' }));
  tools.are(functionOf({ name: 'greet' }));
  await policy.settled();
  expect(policy.warnings).toEqual([
    {
      path: ['extensions', 'policy', 'rules', '0', 'tools', '0'],
      message: 'there is no tool or function "pay", so the rule "no-pay" holds for none of that name',
    },
  ]);
  expect(log.lines).toMatchObject([{ level: 'warn', fields: { path: 'extensions.policy.rules.0.tools.0' } }]);
  tools.are(functionOf({ name: 'greet' }), functionOf({ name: 'pay' }));
  await policy.settled();
  expect(policy.warnings).toEqual([]);
  policy.close();
  expect(tools.listener).toBeUndefined();
});

it('looks for nothing where there are no rules', async () => {
  const { policy, tools, log } = following([]);
  tools.are();
  await policy.settled();
  expect([policy.warnings, log.lines]).toEqual([[], []]);
});
