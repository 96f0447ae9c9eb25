// A request through a toolset becomes the one that it stands for; who may use it is asked later.
import { describe, expect, it } from 'vitest';
import { callOf, requestOf } from '../../../test/helpers/call-kit.ts';
import type { ToolRequest } from '../../contract/call/tool-call.ts';
import type { CompiledTool } from '../../contract/tool/compiled-tool.ts';
import type { Toolsets, ToolsetInForce } from '../../ports/registry/toolsets.ts';
import { snapshotOf } from '../../registry/tool-spec-registry.ts';
import { searchToolOf, throughToolset } from './through-toolset.ts';

const EMPTY = snapshotOf([], []);
const SEARCH = { function: { name: 'search_tools' } } as CompiledTool;

const toolset = (more: Partial<ToolsetInForce> = {}): ToolsetInForce => ({
  name: 'support',
  tools: EMPTY,
  listed: EMPTY,
  member: (name) =>
    name === 'report_bug'
      ? { name, tool: 'issues.create', fixed: { owner: 'acme' }, closed: new Set(['owner', 'x/y']) }
      : undefined,
  mayUse: () => true,
  isOfTenant: () => true,
  ...more,
});
const toolsets = (more?: Partial<ToolsetInForce>): Toolsets => ({
  find: (name) => (name === 'support' ? toolset(more) : undefined),
  onChange: () => () => undefined,
});
const searched = { search: { find: (name: string) => (name === 'search_tools' ? SEARCH : undefined) } };

const request = (changes: Partial<ToolRequest>) =>
  requestOf({ tool: 'report_bug', context: { toolset: 'support', sessionId: 's' }, ...changes });
const callThrough = (asked: ToolRequest, more?: Partial<ToolsetInForce>, phase?: object) =>
  callOf({ request: throughToolset(asked, toolsets(more)), ...phase });

describe('a request', () => {
  it('that names no toolset is left as it is, the same object', () => {
    const asked = requestOf();
    expect(throughToolset(asked, toolsets())).toBe(asked);
  });

  it('is that of the tool itself, with the fixed arguments, and its context names no toolset any more', () => {
    const made = throughToolset(request({ arguments: { title: 'x' } }), toolsets());
    expect(made).toMatchObject({ tool: 'issues.create', arguments: { title: 'x', owner: 'acme' } });
    expect(made.context).toEqual({ sessionId: 's' });
    expect(made.through).toMatchObject({ toolsetName: 'support', tool: 'report_bug' });
    expect(made.refusal).toBeUndefined();
  });

  it('that gives a closed argument is refused by name, and what is fixed holds all the same', () => {
    const made = throughToolset(request({ arguments: { 'x/y': 1, owner: 'me' } }), toolsets());
    expect(made.arguments['owner']).toBe('acme');
    expect(made.refusal).toMatchObject({
      type: 'VALIDATION',
      reason: 'ARGUMENT_NOT_OFFERED',
      details: { violations: [{ pointer: '/x~1y' }] },
    });
  });

  it('that could not be read keeps its own refusal', () => {
    const refusal = Object.assign(new Error('unreadable'), {
      type: 'VALIDATION',
    }) as unknown as ToolRequest['refusal'];
    expect(throughToolset(request({ arguments: { owner: 'me' }, refusal }), toolsets()).refusal).toBe(
      refusal,
    );
  });
});

describe('call_tool', () => {
  const inside = (args: object, more: Partial<ToolRequest> = {}) =>
    throughToolset(
      request({ tool: 'call_tool', arguments: args as ToolRequest['arguments'], ...more }),
      toolsets(searched),
    );

  it('is the call of the tool that it names, of which large integers are where they are then', () => {
    const made = inside({ name: 'report_bug', arguments: { id: '9' } }, { largeIntegers: ['/arguments/id'] });
    expect(made).toMatchObject({
      tool: 'issues.create',
      arguments: { id: '9', owner: 'acme' },
      largeIntegers: ['/id'],
    });
    expect(made.through?.tool).toBe('report_bug');
  });

  it.each([
    [{}, '/name'],
    [{ name: 7 }, '/name'],
    [{ name: 'report_bug', arguments: [] }, '/arguments'],
    [{ name: 'report_bug', title: 'x' }, '/title'],
  ])('with %j is refused at %s', (args, pointer) => {
    expect(inside(args).refusal).toMatchObject({
      type: 'VALIDATION',
      details: { violations: [{ pointer }] },
    });
  });

  it('does not call itself, nor what searches', () => {
    for (const name of ['call_tool', 'search_tools']) {
      const call = callOf({ request: inside({ name, arguments: { name: 'report_bug' } }) });
      expect(() => searchToolOf(call)).toThrow('There is no tool of this name in the toolset');
    }
  });
});

describe('a call', () => {
  it.each([
    ['no toolset of the name', request({ context: { toolset: 'other' } }), {}, 'TOOLSET_NOT_FOUND'],
    ['a toolset of somebody else', request({}), { mayUse: () => false }, 'TOOLSET_NOT_FOUND'],
    ['a tool that is not in it', request({ tool: 'issues.create' }), {}, 'TOOL_NOT_FOUND'],
  ])('of %s is refused', (_what, asked, more, reason) => {
    expect(() => searchToolOf(callThrough(asked, more))).toThrow(
      expect.objectContaining({ type: 'NOT_FOUND', reason }),
    );
  });

  it('is asked by tenant and agent as they are bound to the credential', () => {
    const asked: object[] = [];
    const mayUse = (who: object) => asked.push(who) > 0;
    const context = { tenantId: 'acme', agentId: 'robot' };
    expect(searchToolOf({ ...callThrough(request({}), { mayUse }), context })).toBeUndefined();
    expect(asked).toEqual([context]);
  });

  it('of what searches runs that, and never later', () => {
    const asked = request({ tool: 'search_tools' });
    expect(searchToolOf(callThrough(asked, searched))).toBe(SEARCH);
    expect(() => searchToolOf(callThrough(asked, searched, { phase: { kind: 'admit' } }))).toThrow(
      'answers at once',
    );
  });
});
