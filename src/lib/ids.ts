// Ids for calls and approvals: UUID version 7, in the order of their making, unguessable in their second half.
import { randomFillSync } from 'node:crypto';

const RANDOM_BYTES = 8;
const RANDOM_DIGITS = 2 * RANDOM_BYTES;
/** Random digits are drawn for this many ids at once: one system call and one encoding instead of hundreds. */
const pool = Buffer.alloc(512 * RANDOM_BYTES);
let digits = '';
let used = 0;
let lastMs = 0;
let sequence = 0;
let writtenMs = Number.NaN;
let writtenTime = '';

const MAX_SEQUENCE = 0xfff;

/**
 * `now` in epoch milliseconds. Ids of one process ascend in the order of the calls: within a millisecond by
 * a counter, and the time in them never steps back even if the clock does.
 */
export function uuidv7(now: number): string {
  const ms = Math.trunc(now);
  if (ms > lastMs) {
    lastMs = ms;
    sequence = 0;
  } else if (sequence < MAX_SEQUENCE) {
    sequence += 1;
  } else {
    lastMs += 1;
    sequence = 0;
  }
  if (lastMs !== writtenMs) writeTime(lastMs);
  const counter = (0x7000 | sequence).toString(16);
  const from = nextRandom();
  return `${writtenTime}-${counter}-${digits.slice(from, from + 4)}-${digits.slice(from + 4, from + RANDOM_DIGITS)}`;
}

/** Many ids share a millisecond. */
function writeTime(ms: number): void {
  const time = ms.toString(16).padStart(12, '0');
  writtenTime = `${time.slice(0, 8)}-${time.slice(8)}`;
  writtenMs = ms;
}

/** Where in `digits` the next 16 begin, the first two bits set to the variant of RFC 9562. */
function nextRandom(): number {
  if (used === digits.length) {
    randomFillSync(pool);
    for (let at = 0; at < pool.length; at += RANDOM_BYTES) pool[at] = ((pool[at] ?? 0) & 0x3f) | 0x80;
    digits = pool.toString('hex');
    used = 0;
  }
  const from = used;
  used += RANDOM_DIGITS;
  return from;
}
