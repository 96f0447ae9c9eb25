// What 2026-07-28 asks for beside a message over HTTP, said from the message itself.
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import { ASKED_KEY, type ParameterHeader } from '../../formats/mcp/parameter-headers.ts';
import type { Headers } from './bridge-ends.ts';

export type AskedHeader = Omit<ParameterHeader, 'type'>;

const HEADER_MISMATCH = -32_020;
const PREFIX = 'mcp-param-';
const NAMED_BY: { readonly [method: string]: string } = {
  'tools/call': 'name',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};
/** What a header can hold as it is. */
const PLAIN = /^[!-~](?:[ -~]*[!-~])?$/;

/** Of a 2025-era message: nothing. */
export function headersFor({ method, params }: JsonObject): Headers {
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

/** What the gateway's refusal of a call says that its tool asks for: a client on standard input knows of no headers. */
export function askedBy(refusal: JsonObject): readonly AskedHeader[] | undefined {
  const { error } = refusal;
  const data = isJsonObject(error) && error['code'] === HEADER_MISMATCH ? error['data'] : undefined;
  const asked = isJsonObject(data) ? data[ASKED_KEY] : undefined;
  return Array.isArray(asked) ? asked.flatMap(readAsked) : undefined;
}

/** Of these, what the message says. */
export function parametersSaid(asked: readonly AskedHeader[], { params }: JsonObject): Headers {
  const args = isJsonObject(params) ? params['arguments'] : undefined;
  const said = asked.flatMap(({ header, path }) => {
    const value = path.reduce<JsonValue | undefined>(partOf, args);
    const isSaid = value !== undefined && value !== null && typeof value !== 'object';
    return isSaid ? [[header, asHeader(String(value))] as const] : [];
  });
  return Object.fromEntries(said);
}

function readAsked(each: JsonValue): readonly AskedHeader[] {
  const { header, path } = isJsonObject(each) ? each : {};
  if (typeof header !== 'string' || !header.startsWith(PREFIX) || !Array.isArray(path)) return [];
  return [{ header, path: path.filter((key) => typeof key === 'string') }];
}

function partOf(of: JsonValue | undefined, key: string): JsonValue | undefined {
  return isJsonObject(of) && Object.hasOwn(of, key) ? of[key] : undefined;
}

function asHeader(said: string): string {
  if (PLAIN.test(said) && !said.startsWith('=?base64?')) return said;
  return `=?base64?${Buffer.from(said).toString('base64')}?=`;
}
