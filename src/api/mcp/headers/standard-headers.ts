// The headers that 2026-07-28 asks for beside a request: what proxies judge it by has to be what it says.
import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import type { IncomingHttpHeaders } from 'node:http';
import { isJsonObject } from '../../../contract/json.ts';
import { decodedHeader } from './header-value.ts';

export const HEADER_MISMATCH = -32_020;

/** Where Mcp-Name has its value from. */
const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};
/** Undefined: they are there, and say what the message says; those that contradict it are found before. */
export function headerMissing(
  { method, params }: JSONRPCRequest,
  headers: IncomingHttpHeaders,
): string | undefined {
  if (headers['mcp-protocol-version'] === undefined) return missing('MCP-Protocol-Version');
  if (headers['mcp-method'] === undefined) return missing('Mcp-Method');
  const field = Object.hasOwn(NAMED_BY, method) ? NAMED_BY[method] : undefined;
  if (field === undefined) return undefined;
  const named = isJsonObject(params) ? params[field] : undefined;
  if (typeof named !== 'string') return undefined;
  const said = headers['mcp-name'];
  if (typeof said !== 'string') return missing('Mcp-Name');
  if (decodedHeader(said) === named) return undefined;
  return `The header Mcp-Name does not say what params.${field} says.`;
}

function missing(name: string): string {
  return `The header ${name} is missing: this revision of the protocol asks for it.`;
}
