// Entries of the cache as text: compact JSON with a version. What cannot be read is no entry.
import type { JsonValue } from '../../contract/json.ts';

const HEAD = '{"v":1,"data":';
const TAIL = '}';

/** Characters that an entry adds to the answer in it. */
export const ENTRY_OVERHEAD = HEAD.length + TAIL.length;

export interface KnownData {
  readonly data: JsonValue;
  readonly dataJson: string;
}

export function entryOf(dataJson: string): string {
  return HEAD + dataJson + TAIL;
}

/** Undefined for anything that `entryOf` did not write: another version, cut, corrupt, planted. */
export function readEntry(text: string): KnownData | undefined {
  if (!text.startsWith(HEAD) || !text.endsWith(TAIL)) return undefined;
  return readData(text.slice(HEAD.length, -TAIL.length));
}

/** Read anew for each call: none can change what another gets. */
export function readData(dataJson: string): KnownData | undefined {
  try {
    return { data: JSON.parse(dataJson) as JsonValue, dataJson };
  } catch {
    return undefined;
  }
}
