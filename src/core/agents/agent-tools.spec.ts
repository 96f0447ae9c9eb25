// AgentTools: which calls are bound to what, which are refused and why, and that nobody pays who does not use it.
import { describe, expect, it } from 'vitest';
import { callOf, functionOf, principalOf, requestOf } from '../../../test/helpers/call-kit.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { AgentToolConfig } from '../../ports/agents/agent-store.ts';
import type { KnownAgents } from '../../ports/agents/known-agents.ts';
import { AgentTools } from './agent-tools.ts';
import { configRulesOf } from './config-rules.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    zone: { type: 'string', default: 'utc' },
    key: { type: 'string', minLength: 3, 'x-ute-sensitive': true },
  },
  required: ['key'],
};
const asking = functionOf({ name: 'ask', configSchema: SCHEMA });
const plain = functionOf({ name: 'plain' });

function configured(fn: ToolFunction, changes: Partial<AgentToolConfig> = {}): AgentToolConfig {
  const { name } = fn.spec;
  const schemaHash = configRulesOf(fn.spec)?.hash ?? '';
  const who = { tenantId: 'acme', agent: 'desk', tool: name };
  return {
    ...who,
    isEnabled: true,
    config: { zone: 'cet' },
    sealed: { key: 'sealed' },
    schemaHash,
    revision: 7,
    ...changes,
  };
}

function kit(tools: readonly AgentToolConfig[] | undefined) {
  let opened = 0;
  let asked = 0;
  const agents: KnownAgents = {
    isEmpty: tools === undefined,
    generation: 1,
    find: (tenantId, agent) => {
      asked += 1;
      const isKnown = tools !== undefined && tenantId === 'acme' && agent === 'desk';
      return isKnown ? { tools: new Map(tools.map((each) => [each.tool, each])) } : undefined;
    },
  };
  const open = async () => {
    opened += 1;
    return '"abc"';
  };
  return { tools: new AgentTools(agents, { open }), opened: () => opened, asked: () => asked };
}

const callFrom = (agentId?: string, changes: Partial<ToolCall> = {}) =>
  callOf({ context: { tenantId: 'acme', ...(agentId !== undefined && { agentId }) }, ...changes });

async function bound(tools: AgentTools, call: ToolCall, fn: ToolFunction, runs = fn) {
  try {
    return await tools.bind(call, fn, runs);
  } catch (error) {
    return (error as { reason: string }).reason;
  }
}

describe('binding a call', () => {
  it('is nothing where nobody has declared an agent: the same call, and no look at all', () => {
    const { tools, asked } = kit(undefined);
    const call = callFrom('desk');
    expect(tools.bind(call, plain, plain)).toBe(call);
    expect(asked()).toBe(0);
  });

  it.each([
    [
      'is as it was for a tool that asks for nothing, and an agent that nobody declared',
      plain,
      'other',
      undefined,
    ],
    ['is refused for a tool that asks for something', asking, 'other', 'TOOL_NOT_CONFIGURED'],
    ['is refused without an agent just so', asking, undefined, 'TOOL_NOT_CONFIGURED'],
    ['is refused for a declared agent that has nothing for the tool', plain, 'desk', 'TOOL_NOT_CONFIGURED'],
  ])('%s', async (_what, fn, agent, reason) => {
    const { tools } = kit([configured(asking)]);
    const call = callFrom(agent);
    expect(await bound(tools, call, fn)).toBe(reason ?? call);
  });

  it('gives the agent’s config over the defaults, and opens no secret until it runs', async () => {
    const { tools, opened } = kit([configured(asking)]);
    const call = (await bound(tools, callFrom('desk'), asking)) as ToolCall;
    expect(call).toMatchObject({ config: { zone: 'cet' }, sensitiveConfig: {}, agentTool: { revision: 7 } });
    expect(call.progress.notes).toEqual({ agent_config: 7 });
    expect(opened()).toBe(0);
    expect(await call.agentTool?.openSecrets?.()).toEqual({ key: 'abc' });
  });

  it('is refused where it is switched off', async () => {
    const { tools } = kit([configured(asking, { isEnabled: false })]);
    expect(await bound(tools, callFrom('desk'), asking)).toBe('TOOL_DISABLED_FOR_AGENT');
  });

  it('says nothing of a configuration to who may not call the tool', async () => {
    const guarded = functionOf({ name: 'ask', configSchema: SCHEMA, metadata: { permissions: ['x:y'] } });
    const { tools } = kit([configured(guarded, { isEnabled: false })]);
    const principal = principalOf({ permissions: new Set(['tools:call']) });
    expect(await bound(tools, callFrom('desk', { principal }), guarded)).toBe('PERMISSION_MISSING');
  });

  it('a tool that asks for something else now is held to that once, not at each call', async () => {
    const changed = functionOf({ name: 'ask', configSchema: { ...SCHEMA, title: 'changed' } });
    const stricter = functionOf({ name: 'ask', configSchema: { ...SCHEMA, required: ['key', 'more'] } });
    const { tools, opened } = kit([configured(asking)]);
    for (let count = 0; count < 3; count += 1) {
      expect(await bound(tools, callFrom('desk'), changed)).toMatchObject({ config: { zone: 'cet' } });
      expect(await bound(tools, callFrom('desk'), stricter)).toBe('TOOL_NOT_CONFIGURED');
    }
    expect(opened()).toBe(2);
  });

  it('what is configured for a tool is what its trial in its place gets', async () => {
    const trial = functionOf({ name: 'ask_next', configSchema: { ...SCHEMA, title: 'next' } });
    const { tools } = kit([configured(asking)]);
    expect(await bound(tools, callFrom('desk'), asking, trial)).toMatchObject({ config: { zone: 'cet' } });
  });
});

it('a tool that there is not is not implemented where it is configured, by its name or an action', () => {
  const { tools } = kit([configured(asking)]);
  const missing = (tool: string, agent = 'desk') =>
    tools.missing(callFrom(agent, { request: requestOf({ tool }) }))?.reason;
  expect([missing('ask'), missing('ask.run'), missing('other'), missing('ask', 'nobody')]).toEqual([
    'TOOL_NOT_IMPLEMENTED',
    'TOOL_NOT_IMPLEMENTED',
    undefined,
    undefined,
  ]);
});

describe('what is configured', () => {
  const rules = configRulesOf(asking.spec);
  const pointers = (config: object, secrets: object, isComplete = true) =>
    rules?.violations(config as never, secrets as never, isComplete).map(({ pointer }) => pointer);

  it.each([
    [{}, { key: 'abc' }, []],
    [{ zone: 'x' }, { key: 'abc' }, []],
    [{ zone: 7 }, { key: 'abc' }, ['/config/zone']],
    [{}, {}, ['/sensitive_config/key']],
    [{}, { key: 'a' }, ['/sensitive_config/key']],
    [{ key: 'abc' }, {}, ['/config/key']],
    [{ zoen: 1 }, { key: 'abc' }, ['/config/zoen']],
    [{ constructor: 1 }, { key: 'abc' }, ['/config/constructor']],
    [{}, { key: 'abc', zone: 'x' }, ['/sensitive_config/zone']],
    [{}, { key: 'abc', 'a/b~': 'x' }, ['/sensitive_config/a~1b~0']],
  ])('%j with secrets %j has faults at %j', (config, secrets, expected) => {
    expect(pointers(config, secrets)).toEqual(expected);
  });

  it('may be incomplete while it is switched off, and not wrong', () => {
    expect(pointers({}, {}, false)).toEqual([]);
    expect(pointers({ zone: 7 }, {}, false)).toEqual(['/config/zone']);
  });

  it('of a tool that needs a credential and says not which is any secret', () => {
    const anySecret = configRulesOf(functionOf({ auth: { config: {} } }).spec);
    expect(anySecret?.isOptional).toBe(false);
    expect(anySecret?.violations({}, { whatever: 'x' }, true)).toEqual([]);
    expect(anySecret?.violations({}, {}, true).map(({ pointer }) => pointer)).toEqual(['/sensitive_config']);
  });
});
