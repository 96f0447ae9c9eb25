// A call of 2026-07-28 whose headers do not say what its arguments say, where its tool asks for them.
import type { FastifyRequest } from 'fastify';
import type { Principal } from '../../../contract/call/principal.ts';
import { isJsonObject, type JsonObject } from '../../../contract/json.ts';
import type { ToolSet } from '../../../contract/tool/tool-set.ts';
import { ASKED_KEY, parameterHeaders } from '../../../formats/mcp/parameter-headers.ts';
import type { Authenticator } from '../../../ports/authenticator.ts';
import type { ToolCatalog } from '../../../ports/registry/tool-catalog.ts';
import type { Toolsets } from '../../../ports/registry/toolsets.ts';
import { mayKnow } from '../../offered-toolset.ts';
import { environmentOf } from '../../rest/execute/read-call.ts';
import { findShown } from '../../tool-view.ts';
import type { Incoming, Rejection } from '../protocol/incoming.ts';
import { toolsetIn } from '../protocol/request-head.ts';
import { unlikeArguments } from './said-parameters.ts';
import { HEADER_MISMATCH } from './standard-headers.ts';

export interface ParameterFaultDeps {
  readonly catalog: Pick<ToolCatalog, 'snapshot'>;
  readonly toolsets: Pick<Toolsets, 'find'>;
  readonly authenticator: Authenticator;
}

/** Undefined: they are right. Who is not shown the tool is refused as for any other, and not told what it asks for. */
export async function parameterFault(
  deps: ParameterFaultDeps,
  request: FastifyRequest,
  { era, message: { params } }: Extract<Incoming, { kind: 'request' }>,
): Promise<Rejection | undefined> {
  if (era === 'legacy') return undefined;
  const { name, arguments: args = {} } = (params ?? {}) as JsonObject;
  const tools = toolsIn(deps, request);
  if (tools === undefined || typeof name !== 'string' || !isJsonObject(args)) return undefined;
  const fn = tools.find(name)?.function;
  const asked = fn === undefined ? [] : parameterHeaders(fn.inputSchema);
  const message = asked.length === 0 ? undefined : unlikeArguments(asked, args, request.headers);
  if (message === undefined || !(await isShown(deps, request, name))) return undefined;
  const data = { [ASKED_KEY]: asked };
  return { kind: 'rejected', status: 400, code: HEADER_MISMATCH, message, data };
}

function toolsIn({ catalog, toolsets }: ParameterFaultDeps, { params }: FastifyRequest): ToolSet | undefined {
  const name = toolsetIn(params);
  return name === undefined ? catalog.snapshot() : toolsets.find(name)?.tools;
}

async function isShown(deps: ParameterFaultDeps, request: FastifyRequest, tool: string): Promise<boolean> {
  const principal = await principalOf(deps.authenticator, request);
  const toolset = toolsetIn(request.params);
  const tools = toolsIn(deps, request);
  if (principal === undefined || tools === undefined) return false;
  if (toolset !== undefined && !mayKnow(deps.toolsets.find(toolset), principal)) return false;
  return findShown(tools, tool, { principal }) !== undefined;
}

/** Undefined: a stranger, whom the call's own refusal tells so. */
async function principalOf(
  authenticator: Authenticator,
  request: FastifyRequest,
): Promise<Principal | undefined> {
  const { credential, traced, wrongTenant } = environmentOf(request, () => undefined);
  if (wrongTenant !== undefined) return undefined;
  try {
    return await authenticator.authenticate(credential, traced.tenantId);
  } catch {
    return undefined;
  }
}
