// newTrace: the ids of a trace that begins here, and of its first span, from a pool of random bytes.
import { randomFillSync } from 'node:crypto';

const TRACE_ID_BYTES = 16;
const TRACE_ID_DIGITS = 2 * TRACE_ID_BYTES;
const SPAN_ID_BYTES = 8;
const BYTES = TRACE_ID_BYTES + SPAN_ID_BYTES;
/** One request to the system for so many traces: it costs more than all else here. */
const AT_ONCE = 128;

export interface NewTrace {
  /** 32 and 16 hexadecimal digits. */
  readonly traceId: string;
  readonly spanId: string;
}

const pool = Buffer.alloc(BYTES * AT_ONCE);
let used = pool.length;

export function newTrace(): NewTrace {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  // One step out of JavaScript for both.
  const both = pool.toString('hex', used, used + BYTES);
  used += BYTES;
  return { traceId: both.slice(0, TRACE_ID_DIGITS), spanId: both.slice(TRACE_ID_DIGITS) };
}
