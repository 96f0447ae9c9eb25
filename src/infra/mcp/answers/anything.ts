// What the SDK takes any object by: what is wrong with it is said here, in words of our own.
import type { StandardSchemaV1 } from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject } from '../../../contract/json.ts';

export const ANYTHING: StandardSchemaV1<unknown, JsonObject> = {
  '~standard': {
    version: 1,
    vendor: 'unified-tool-executor',
    validate: (value) => (isJsonObject(value) ? { value } : { issues: [{ message: 'expected an object' }] }),
  },
};
