// What requests are read by hand from: their params as they came.
import type { StandardSchemaV1 } from '@modelcontextprotocol/server';
import { isJsonObject, type JsonObject } from '../../../contract/json.ts';

/** Of calls, what is wrong with one is the pipeline's to refuse. */
export const ANY_PARAMS: StandardSchemaV1<unknown, JsonObject> = {
  '~standard': {
    version: 1,
    vendor: 'unified-tool-executor',
    validate: (value) => (isJsonObject(value) ? { value } : { issues: [{ message: 'must be an object' }] }),
  },
};
