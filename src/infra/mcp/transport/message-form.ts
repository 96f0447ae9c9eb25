// Which JSON is a message of JSON-RPC, as the SDK sees it: decided here, so that it is never asked about what is none.
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { isJsonObject } from '../../../contract/json.ts';

export function isMessage(value: unknown): value is JSONRPCMessage {
  if (!isJsonObject(value) || value['jsonrpc'] !== '2.0') return false;
  const { id, method, params, result, error } = value;
  const hasId = typeof id === 'string' || typeof id === 'number';
  if (typeof method === 'string') {
    return (hasId || id === undefined) && (params === undefined || isJsonObject(params));
  }
  if (isJsonObject(result)) return hasId && error === undefined;
  return (
    hasId && isJsonObject(error) && Number.isInteger(error['code']) && typeof error['message'] === 'string'
  );
}
