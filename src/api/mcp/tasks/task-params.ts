// Reads what requests about tasks say.
import { ProtocolError } from '@modelcontextprotocol/server';
import { isJsonObject, type JsonValue } from '../../../contract/json.ts';
import type { CalledFor } from '../../../calls/async-calls.ts';
import { readContext } from '../../read-context.ts';
import { afterPosition } from '../../rest/calls/history-query.ts';
import { keyOf } from '../../rest/route/page.ts';
import type { Exchange } from '../protocol/exchange.ts';
import { INVALID_PARAMS } from '../protocol/told-failure.ts';
import { CONTEXT_KEY } from '../tools/read-tool-call.ts';

export interface TaskParams {
  readonly taskId?: JsonValue;
  readonly cursor?: JsonValue;
  readonly _meta?: JsonValue;
}

/** Throws ProtocolError. */
export function taskIdOf({ taskId }: TaskParams): string {
  if (typeof taskId === 'string') return taskId;
  throw new ProtocolError(INVALID_PARAMS, 'params.taskId must be the id of a task, a string.');
}

/** For whom the client's tasks are: its URL says so, or the message. Throws ToolFailure VALIDATION. */
export function calledForOf({ _meta: meta }: TaskParams, { asked }: Exchange): CalledFor {
  const own = isJsonObject(meta) ? meta[CONTEXT_KEY] : undefined;
  const { agentId, userId, sessionId } = readContext({ ...asked.context, ...(isJsonObject(own) && own) });
  // A credential of one person shows that person's tasks.
  return { agentId, userId: userId ?? asked.principal?.userId, sessionId };
}

/** Throws ProtocolError. */
export function afterOf({ cursor }: TaskParams) {
  if (cursor === undefined) return undefined;
  const key = typeof cursor === 'string' ? keyOf(cursor) : undefined;
  const [, at, id] = afterPosition.exec(key ?? '') ?? [];
  if (at !== undefined && id !== undefined) return { at: Number(at), id };
  throw new ProtocolError(INVALID_PARAMS, 'The cursor must be the nextCursor of this list.');
}
