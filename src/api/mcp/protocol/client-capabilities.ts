// What a client of 2026-07-28 declares with a request.
import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  type ProtocolError,
} from '@modelcontextprotocol/server';
import { isJsonObject, type JsonObject } from '../../../contract/json.ts';
import type { RpcFault } from './rpc-fault.ts';

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

export function opensUrlsNow(capabilities: unknown): boolean {
  const elicitation = isJsonObject(capabilities) ? capabilities['elicitation'] : undefined;
  return isJsonObject(elicitation) && isJsonObject(elicitation['url']);
}

export function takesTasks(capabilities: unknown): boolean {
  const extensions = isJsonObject(capabilities) ? capabilities['extensions'] : undefined;
  return isJsonObject(extensions) && isJsonObject(extensions[TASKS_EXTENSION]);
}

/** A subscription to what becomes of tasks, of a client that does not say that it takes any. */
export function tasksUndeclared(params: JsonObject | undefined): RpcFault | undefined {
  const { notifications, _meta: meta } = params ?? {};
  const wanted = isJsonObject(notifications) ? notifications['taskIds'] : undefined;
  const declared = isJsonObject(meta) ? meta[CLIENT_CAPABILITIES_META_KEY] : undefined;
  if (wanted === undefined || takesTasks(declared)) return undefined;
  const { code, message, data } = tasksMissing();
  return { status: 400, code, message, data };
}

export function tasksMissing(): ProtocolError {
  const requiredCapabilities = { extensions: { [TASKS_EXTENSION]: {} } };
  return new MissingRequiredClientCapabilityError({ requiredCapabilities });
}
