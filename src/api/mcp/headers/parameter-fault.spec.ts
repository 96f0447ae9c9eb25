// Who may not know a tool is not told what it asks for in headers, and whoever may is told all of it.
import { expect, it } from 'vitest';
import { compiledOf, functionOf, principalOf } from '../../../../test/helpers/call-kit.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { Toolset } from '../../../contract/tool/toolset.ts';
import { snapshotOf } from '../../../registry/tool-spec-registry.ts';
import type { Era } from '../protocol/exchange.ts';
import { parameterFault, type ParameterFaultDeps } from './parameter-fault.ts';

const routed = functionOf({
  name: 'routed',
  inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
});

interface Asked {
  readonly era?: Era;
  readonly headers?: Readonly<Record<string, string>>;
  readonly toolset?: string;
  readonly isStranger?: boolean;
  readonly isHidden?: boolean;
}

function faultOf({ era = 'modern', headers = {}, toolset, isStranger = false, isHidden = false }: Asked) {
  const tools = snapshotOf([], [{ ...compiledOf(routed), isShownTo: () => !isHidden }]);
  const mine = { tools, isOfTenant: () => toolset === 'mine' } as unknown as Toolset;
  const authenticate = async () => {
    if (isStranger) throw new ToolFailure('AUTH', 'no');
    return principalOf();
  };
  const deps = {
    catalog: { snapshot: () => tools },
    toolsets: { find: () => mine },
    authenticator: { authenticate },
  };
  const request = { headers, params: { ...(toolset !== undefined && { toolset }) }, socket: {} };
  const params = { name: 'routed', arguments: { region: 'eu' } };
  const message = { jsonrpc: '2.0' as const, id: 1, method: 'tools/call', params };
  return parameterFault(
    deps as unknown as ParameterFaultDeps,
    request as unknown as Parameters<typeof parameterFault>[1],
    { kind: 'request', era, message },
  );
}

const asked = {
  'io.ute/parameterHeaders': [{ header: 'mcp-param-region', path: ['region'], type: 'string' }],
};

it.each<[string, Asked]>([
  ['in no toolset', {}],
  ['in a toolset of its tenant', { toolset: 'mine' }],
  ['with a header that says something else', { headers: { 'mcp-param-region': 'us' } }],
])('a caller who is shown the tool is told, %s', async (_case, call) => {
  expect(await faultOf(call)).toMatchObject({ status: 400, code: -32_020, data: asked });
});

it.each<[string, Asked]>([
  ['a stranger', { isStranger: true }],
  ['whoever is not shown the tool', { isHidden: true }],
  ['whoever may not know the toolset', { toolset: 'others' }],
  ['a client of 2025', { era: 'legacy' }],
  ['whoever says the right thing', { headers: { 'mcp-param-region': 'eu' } }],
])('%s is not: the call goes the way of any other', async (_who, call) => {
  expect(await faultOf(call)).toBeUndefined();
});
