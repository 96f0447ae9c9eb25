// What a client of 2026-07-28 wants to be told of by subscriptions/listen.
import { ProtocolError } from '@modelcontextprotocol/server';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts';
import { INVALID_PARAMS } from '../protocol/told-failure.ts';

export interface ListenFilter {
  readonly toolsListChanged: boolean;
  /** Undefined: it does not ask for any. */
  readonly taskIds: readonly string[] | undefined;
}

/** Of one subscription. */
export const MOST_TASKS = 100;

/** Of what this door has nothing to tell of, nothing is read. Throws ProtocolError. */
export function listenFilterOf(params: JsonObject | undefined): ListenFilter {
  const notifications = params?.['notifications'];
  if (!isJsonObject(notifications)) throw wrong('notifications must be an object: what to tell of.');
  const { toolsListChanged = false, taskIds } = notifications;
  if (typeof toolsListChanged !== 'boolean') throw wrong('notifications.toolsListChanged must be a boolean.');
  return { toolsListChanged, taskIds: taskIds === undefined ? undefined : taskIdsOf(taskIds) };
}

function taskIdsOf(said: JsonValue): readonly string[] {
  if (!Array.isArray(said) || !said.every((id) => typeof id === 'string'))
    throw wrong('notifications.taskIds must be a list of ids of tasks, strings.');
  if (said.length > MOST_TASKS)
    throw wrong(`notifications.taskIds may name ${MOST_TASKS} tasks at most, found ${said.length}.`);
  return [...new Set(said)];
}

function wrong(message: string): ProtocolError {
  return new ProtocolError(INVALID_PARAMS, `params.${message}`);
}
