// JSON.parse for texts of any size whose bounds are known: what is large is read in slices.
import { inSlices, isLarge } from '../concurrency/in-slices.ts';
import type { JsonValue } from '../json/json-value.ts';
import { LargeJsonError, type LargeJsonLimits } from './limits.ts';
import { readLargeJson } from './read-json.ts';

const WITHIN_BOUNDS = {
  depth: Number.POSITIVE_INFINITY,
  values: Number.POSITIVE_INFINITY,
  names: Number.POSITIVE_INFINITY,
} as const;

/** Rejects with LargeJsonError NOT_JSON or TOO_LONG, and UNSAFE_NUMBER where `numbers` refuse one. */
export function parseInSlices(
  json: string | Buffer,
  numbers: LargeJsonLimits['numbers'] = 'round',
): Promise<JsonValue> {
  const bytes = typeof json === 'string' ? Buffer.from(json) : json;
  return inSlices(readLargeJson(bytes, { ...WITHIN_BOUNDS, numbers }));
}

/** For what the gateway wrote itself: at once what is small, and whatever JSON.parse reads. Throws, or rejects with, what is no JSON. */
export function parseOwn(json: string): JsonValue | Promise<JsonValue> {
  return isLarge(json) ? parseLarge(json) : (JSON.parse(json) as JsonValue);
}

async function parseLarge(json: string): Promise<JsonValue> {
  try {
    return await parseInSlices(json);
  } catch (error) {
    // A name that is too long for a slice: nothing that tools return from outside of the gateway holds one.
    if (error instanceof LargeJsonError && error.reason === 'TOO_LONG') return JSON.parse(json) as JsonValue;
    throw error;
  }
}
