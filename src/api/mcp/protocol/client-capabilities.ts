// What a client of 2026-07-28 declares with a request.
import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  type ProtocolError,
} from '@modelcontextprotocol/server';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts';

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

export function opensUrlsNow(capabilities: unknown): boolean {
  const elicitation = isJsonObject(capabilities) ? capabilities['elicitation'] : undefined;
  return isJsonObject(elicitation) && isJsonObject(elicitation['url']);
}

export function takesTasks(capabilities: unknown): boolean {
  const extensions = isJsonObject(capabilities) ? capabilities['extensions'] : undefined;
  return isJsonObject(extensions) && isJsonObject(extensions[TASKS_EXTENSION]);
}

/** With one request. */
export function declaredIn(params: JsonObject | undefined): JsonValue | undefined {
  const meta = params?.['_meta'];
  return isJsonObject(meta) ? meta[CLIENT_CAPABILITIES_META_KEY] : undefined;
}

export function tasksMissing(): ProtocolError {
  const requiredCapabilities = { extensions: { [TASKS_EXTENSION]: {} } };
  return new MissingRequiredClientCapabilityError({ requiredCapabilities });
}
