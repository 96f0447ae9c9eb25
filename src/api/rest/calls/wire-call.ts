// A call that runs later as REST shows it, with the envelope it ended in.
import type { StoredCall } from '../../../ports/calls/call-store.ts';
import { shape } from '../route/shapes.ts';
import { wire } from '../route/wire.ts';
import { CallView } from './schema.ts';

export const CallFields = shape(() => CallView().omit({ result: true }));

/** The envelope is pasted as it was written. */
export function callJson(call: StoredCall, envelope: string | undefined): string {
  const head = JSON.stringify(wire(CallFields, { ...call, attempts: call.runs }));
  return `${head.slice(0, -1)},"result":${envelope ?? 'null'}}`;
}
