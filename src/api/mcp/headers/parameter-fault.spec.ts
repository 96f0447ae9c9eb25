// Who may not know a tool is not told what it asks for in headers, and whoever may is told all of it.
import { expect, it } from 'vitest';
import { compiledOf, functionOf, principalOf } from '../../../../test/helpers/call-kit.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { Credential } from '../../../contract/call/principal.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { Toolset } from '../../../contract/tool/toolset.ts';
import { snapshotOf } from '../../../registry/tool-spec-registry.ts';
import type { Authenticator } from '../../../ports/authenticator.ts';
import type { Era } from '../protocol/exchange.ts';
import { parameterFault, type ParameterFaultDeps } from './parameter-fault.ts';

const routed = functionOf({
  name: 'routed',
  inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
});

interface Asked {
  readonly era?: Era;
  readonly headers?: Readonly<Record<string, string>>;
  /** What the URL says of the context of its calls. */
  readonly said?: JsonObject;
  /** What the message says of it. */
  readonly context?: JsonObject;
  readonly isStranger?: boolean;
  readonly isHidden?: boolean;
}

const FROM = { address: '203.0.113.7', forwarded: undefined };

function kit({ isStranger = false, isHidden = false }: Asked) {
  const tools = snapshotOf([], [{ ...compiledOf(routed), isShownTo: () => !isHidden }]);
  const toolset = (name: string) => ({ tools, isOfTenant: () => name === 'mine' }) as unknown as Toolset;
  const shown: { credential: Credential; tenant: string | undefined }[] = [];
  const authenticator: Authenticator = {
    authenticate: async (credential, tenant) => {
      shown.push({ credential, tenant });
      // It serves several tenants.
      if (isStranger || tenant === undefined) throw new ToolFailure('AUTH', 'no');
      return principalOf({ tenantId: tenant });
    },
    recall: () => principalOf(),
  };
  const catalog = { snapshot: () => tools };
  return { deps: { catalog, toolsets: { find: toolset }, authenticator }, shown };
}

function faultOf(call: Asked, { deps } = kit(call)) {
  const { era = 'modern', headers = {}, said = { tenant_id: 'acme' }, context } = call;
  const environment = {
    credential: { kind: 'bearer', token: 'ute_live_x', from: FROM },
    timeoutMs: undefined,
    traced: {},
    prefer: {},
  };
  const exchange = {
    asked: { era, environment, context: said, largeIntegers: [] },
    whenGone: () => undefined,
  } as unknown as Parameters<typeof parameterFault>[2];
  const _meta = context && { 'io.ute/context': context };
  return parameterFault(deps as unknown as ParameterFaultDeps, headers, exchange, {
    name: 'routed',
    arguments: { region: 'eu' },
    ...(_meta && { _meta }),
  });
}

const asked = {
  'io.ute/parameterHeaders': [{ header: 'mcp-param-region', path: ['region'], type: 'string' }],
};

it.each<[string, Asked]>([
  ['in no toolset', {}],
  ['in a toolset of its tenant', { said: { tenant_id: 'acme', toolset: 'mine' } }],
  ['in a toolset that its message names', { context: { toolset: 'mine' } }],
  ['of a tenant that its message names', { said: {}, context: { tenant_id: 'acme' } }],
  ['with a header that says something else', { headers: { 'mcp-param-region': 'us' } }],
])('a caller who is shown the tool is told, %s', async (_case, call) => {
  expect(await faultOf(call)).toMatchObject({ status: 400, code: -32_020, data: asked });
});

it.each<[string, Asked]>([
  ['a stranger', { isStranger: true }],
  ['whoever is not shown the tool', { isHidden: true }],
  ['whoever may not know the toolset', { context: { toolset: 'others' } }],
  ['a client of 2025', { era: 'legacy' }],
  ['whoever says the right thing', { headers: { 'mcp-param-region': 'eu' } }],
  ['whoever names two tenants', { context: { tenant_id: 'umbrella' } }],
])('%s is not: the call goes the way of any other', async (_who, call) => {
  expect(await faultOf(call)).toBeUndefined();
});

it('a wrong credential is counted by its address where the call is refused, and not here as well', async () => {
  const stranger = kit({ isStranger: true });
  await faultOf({ isStranger: true }, stranger);
  expect(stranger.shown).toEqual([{ credential: { kind: 'bearer', token: 'ute_live_x' }, tenant: 'acme' }]);
});
