// Reads tools/call into a ToolRequest. What cannot be read becomes a refusal that the core gives, behind auth and audit.
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts';
import type { ToolRequest } from '../../../contract/call/tool-call.ts';
import type { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { readCall } from '../../rest/execute/read-call.ts';
import { invalid } from '../../rest/route/violations.ts';
import type { Exchange } from '../protocol/exchange.ts';

/** Of `_meta`: the context of the call, in the words of REST. */
export const CONTEXT_KEY = 'io.ute/context';
const IDEMPOTENCY_KEY = 'io.ute/idempotencyKey';

export interface CallParams {
  readonly name?: JsonValue;
  readonly arguments?: JsonValue;
  readonly _meta?: JsonValue;
  /** Of 2025-11-25: the call is to be a task. */
  readonly task?: JsonValue;
}

/** `more`: what takes part in the context besides, such as what redeems an approval. */
export function readToolCall(
  { name, arguments: args, _meta: meta, task }: CallParams,
  { asked, whenGone }: Pick<Exchange, 'asked' | 'whenGone'>,
  more: JsonObject = {},
): ToolRequest {
  const environment = { ...asked.environment, whenGone };
  const said = isJsonObject(meta) ? meta : {};
  const body: JsonObject = {
    ...(args !== undefined && { arguments: args }),
    context: contextOf(said, asked.context, more),
  };
  const largeIntegers = asked.largeIntegers.map((pointer) => pointer.slice('/params'.length));
  const tool = typeof name === 'string' ? name : '';
  const wrong =
    nameless(name) ??
    differing(said, asked.context) ??
    (asked.era === 'legacy' ? wrongTask(task) : undefined);
  const traced = { ...asked.environment.traced, ...tracesOf(said) };
  const request = readCall(tool, wrong ?? body, { ...environment, traced }, largeIntegers);
  return { ...request, door: 'mcp' };
}

function nameless(name: JsonValue | undefined): ToolFailure | undefined {
  return typeof name === 'string' ? undefined : invalid('/name', 'must be the name of a tool');
}

/** The query speaks for every call of a client, and `_meta` for one. */
function contextOf(meta: JsonObject, asked: JsonObject, more: JsonObject): JsonValue {
  const { [CONTEXT_KEY]: own = {}, [IDEMPOTENCY_KEY]: key } = meta;
  if (!isJsonObject(own)) return own;
  return { ...asked, ...(key !== undefined && { idempotency_key: key }), ...own, ...more };
}

function differing(meta: JsonObject, asked: JsonObject): ToolFailure | undefined {
  const { [CONTEXT_KEY]: own } = meta;
  if (!isJsonObject(own)) return undefined;
  const field = Object.keys(asked).find((each) => own[each] !== undefined && own[each] !== asked[each]);
  if (field === undefined) return undefined;
  return invalid(
    `/context/${field}`,
    'differs from the query of the URL: say one of them, or the same in both',
  );
}

/** For how long it is kept is not the client's to say. */
function wrongTask(task: JsonValue | undefined): ToolFailure | undefined {
  if (task === undefined) return undefined;
  if (!isJsonObject(task)) return invalid('/task', 'must be an object: {"ttl": milliseconds}');
  const { ttl } = task;
  if (ttl === undefined || (typeof ttl === 'number' && ttl >= 0)) return undefined;
  return invalid('/task/ttl', 'must be a number of milliseconds');
}

/** Those of the message come before those of the request that carried it. */
function tracesOf({ traceparent, tracestate }: JsonObject) {
  if (typeof traceparent !== 'string') return {};
  return { traceparent, tracestate: typeof tracestate === 'string' ? tracestate : undefined };
}

/** A call that came as no message that can be read: refused like any other, with what is known of it. */
export function refusedCall(
  tool: string,
  refusal: ToolFailure,
  { asked, whenGone }: Pick<Exchange, 'asked' | 'whenGone'>,
): ToolRequest {
  return { ...readCall(tool, refusal, { ...asked.environment, whenGone }), door: 'mcp' };
}
