// A message too large to be parsed in one go: read in slices, within the bounds that hold for every answer.
import type { JsonValue } from '../../../contract/json.ts';
import { inSlices } from '../../../lib/concurrency/in-slices.ts';
import { boundOf, MOST_NAMES, MOST_VALUES } from '../../../lib/json/json-bounds.ts';
import { LARGE_JSON_BYTES, LargeJsonError } from '../../../lib/large-json/limits.ts';
import { readLargeJson } from '../../../lib/large-json/read-json.ts';
import { tooDeep, tooMuch } from '../failures.ts';
import { MAX_DEPTH } from './json-depth.ts';

const LIMITS = { depth: MAX_DEPTH, values: MOST_VALUES, names: MOST_NAMES, numbers: 'text' } as const;

export function isLargeMessage({ length }: Uint8Array): boolean {
  return length >= LARGE_JSON_BYTES;
}

/** Undefined: it is no JSON. Throws ToolFailure where it is more than is passed on. */
export async function readLargeMessage(bytes: Buffer): Promise<JsonValue | undefined> {
  try {
    return await inSlices(readLargeJson(bytes, LIMITS));
  } catch (error) {
    const reason = error instanceof LargeJsonError ? error.reason : 'NOT_JSON';
    if (reason === 'NOT_JSON') return undefined;
    if (reason === 'TOO_DEEP') throw tooDeep(MAX_DEPTH);
    const bound = reason === 'TOO_LONG' ? 'holds a name, a number or a gap that is too long' : undefined;
    throw tooMuch(bound ?? boundOf(reason === 'TOO_MANY_NAMES' ? 'names' : 'values'));
  }
}
