// A call that runs later as REST shows it, with the envelope it ended in.
import type { StoredCall } from '../../../ports/calls/call-store.ts';
import { shape } from '../route/shapes.ts';
import { wire } from '../route/wire.ts';
import { CallView } from './schema.ts';

const CallFields = shape(() => CallView().omit({ result: true }));

export function callFields({ approval, runs, ...call }: StoredCall) {
  const approvalId = approval?.id ?? null;
  return wire(CallFields, {
    ...call,
    attempts: runs,
    approvalId,
    approvalExpiresAt: approval?.expires_at ?? null,
  });
}

/** The envelope is pasted as it was written. */
export function callJson(call: StoredCall, envelope: string | undefined): string {
  const head = JSON.stringify(callFields(call));
  return `${head.slice(0, -1)},"result":${envelope ?? 'null'}}`;
}
