// A call of 2026-07-28 whose headers do not say what its arguments say, where its tool asks for them.
import type { IncomingHttpHeaders } from 'node:http';
import type { Principal } from '../../../contract/call/principal.ts';
import type { ToolRequest } from '../../../contract/call/tool-call.ts';
import { ASKED_KEY, parameterHeaders } from '../../../formats/mcp/parameter-headers.ts';
import type { Authenticator } from '../../../ports/authenticator.ts';
import type { ToolCatalog } from '../../../ports/registry/tool-catalog.ts';
import type { Toolsets } from '../../../ports/registry/toolsets.ts';
import { mayKnow } from '../../offered-toolset.ts';
import { withoutAddress } from '../../shown-credential.ts';
import { findShown } from '../../tool-view.ts';
import type { Exchange } from '../protocol/exchange.ts';
import type { Rejection } from '../protocol/incoming.ts';
import { readToolCall } from '../tools/read-tool-call.ts';
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
  headers: IncomingHttpHeaders,
  exchange: Pick<Exchange, 'asked' | 'whenGone'>,
  params: unknown,
): Promise<Rejection | undefined> {
  if (exchange.asked.era === 'legacy') return undefined;
  // As it will be made: tenant and toolset may be named in its URL, its headers or its message.
  const call = readToolCall(params ?? {}, exchange);
  if (call.refusal !== undefined) return undefined;
  const { toolset: name } = call.context;
  const toolset = name === undefined ? undefined : deps.toolsets.find(name);
  const tools = name === undefined ? deps.catalog.snapshot() : toolset?.tools;
  const fn = tools?.find(call.tool)?.function;
  const asked = fn === undefined ? [] : parameterHeaders(fn.inputSchema);
  const message = asked.length === 0 ? undefined : unlikeArguments(asked, call.arguments, headers);
  if (message === undefined || tools === undefined) return undefined;
  const principal = await principalOf(deps.authenticator, call);
  if (principal === undefined || (name !== undefined && !mayKnow(toolset, principal))) return undefined;
  if (findShown(tools, call.tool, { principal }) === undefined) return undefined;
  const data = { [ASKED_KEY]: asked };
  return { kind: 'rejected', status: 400, code: HEADER_MISMATCH, message, data };
}

/** Undefined: a stranger, whom the call's own refusal tells so. */
async function principalOf(
  authenticator: Authenticator,
  { credential, context }: ToolRequest,
): Promise<Principal | undefined> {
  try {
    return await authenticator.authenticate(withoutAddress(credential), context.tenantId);
  } catch {
    return undefined;
  }
}
