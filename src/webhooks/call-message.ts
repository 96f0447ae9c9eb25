// The body of a message that a call has ended.
import type { StoredCall } from '../ports/calls/call-store.ts';

/** A longer result is left to be asked for. */
const MAX_ENVELOPE_CHARS = 256 * 1024;

/** JSON text. `envelope`: the one that the call ended in, as JSON text. */
export function callMessage(call: StoredCall, envelope: string, now: number): string {
  const head = JSON.stringify({
    call_id: call.id,
    call_url: `/v1/calls/${call.id}`,
    tool: call.tool,
    status: call.status,
    ...(call.scheduleId !== null && { schedule_id: call.scheduleId }),
  });
  const result = envelope.length > MAX_ENVELOPE_CHARS ? 'null' : envelope;
  const at = (call.finishedAt ?? new Date(now)).toISOString();
  return `{"type":"call.ended","timestamp":"${at}","data":${head.slice(0, -1)},"result":${result}}}`;
}
