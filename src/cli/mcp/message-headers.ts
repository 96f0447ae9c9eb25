// What 2026-07-28 asks for beside a message over HTTP, said from the message itself.
import { isJsonObject, type JsonObject } from '../../contract/json.ts';

const NAMED_BY: { readonly [method: string]: string } = {
  'tools/call': 'name',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};
/** What a header can hold as it is. */
const PLAIN = /^[!-~](?:[ -~]*[!-~])?$/;

/** Of a 2025-era message: nothing. */
export function headersFor({ method, params }: JsonObject): { readonly [name: string]: string } {
  const meta = isJsonObject(params) ? params['_meta'] : undefined;
  const version = isJsonObject(meta) ? meta['io.modelcontextprotocol/protocolVersion'] : undefined;
  if (typeof version !== 'string' || typeof method !== 'string') return {};
  const field = Object.hasOwn(NAMED_BY, method) ? NAMED_BY[method] : undefined;
  const name = field !== undefined && isJsonObject(params) ? params[field] : undefined;
  return {
    'mcp-protocol-version': asHeader(version),
    'mcp-method': asHeader(method),
    ...(typeof name === 'string' && { 'mcp-name': asHeader(name) }),
  };
}

function asHeader(said: string): string {
  if (PLAIN.test(said) && !said.startsWith('=?base64?')) return said;
  return `=?base64?${Buffer.from(said).toString('base64')}?=`;
}
