// What a request says by its head, before anybody reads its message.
import type { FastifyRequest } from 'fastify';
import { isJsonObject, type JsonObject } from '../../../contract/json.ts';
import { foreignOrigin } from '../../../lib/egress/foreign-request.ts';
import { isSession } from './legacy-session.ts';
import { INVALID_REQUEST } from './read-message.ts';
import type { RpcFault } from './rpc-fault.ts';

export function faultOfHead({ headers }: FastifyRequest): RpcFault | undefined {
  const foreign = foreignOrigin(headers);
  if (foreign !== undefined) return { status: 403, code: INVALID_REQUEST, message: foreign };
  if (takes(headers.accept, 'application/json')) return undefined;
  const message = 'The header Accept must name application/json, and text/event-stream beside it.';
  return { status: 406, code: INVALID_REQUEST, message };
}

/** Nothing said: JSON alone. */
export function takes(accept: string | undefined, type: string): boolean {
  if (accept === undefined) return type === 'application/json';
  const whole = `${type.split('/')[0]}/*`;
  return [type, whole, '*/*'].some((each) => accept.includes(each));
}

/** Empty: it is none of ours. */
export function sessionIn(said: string | string[] | undefined): string | undefined {
  if (said === undefined) return undefined;
  return typeof said === 'string' && isSession(said) ? said : '';
}

/** Of the context's fields, those that a URL may say for all calls of a client. */
export function contextIn({ query, params }: Pick<FastifyRequest, 'query' | 'params'>): JsonObject {
  const said = Object.entries(query as JsonObject).filter(([, value]) => typeof value === 'string');
  const toolset = toolsetIn(params);
  return { ...Object.fromEntries(said), ...(toolset !== undefined && { toolset }) };
}

/** Undefined: the URL names none. */
export function toolsetIn(params: unknown): string | undefined {
  return isJsonObject(params) && typeof params['toolset'] === 'string' ? params['toolset'] : undefined;
}
