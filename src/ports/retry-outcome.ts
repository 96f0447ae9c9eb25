// What running a call again comes to, as far as its row tells: before anybody is asked to agree, and where it was not queued.
import type { RetryOutcome, StoredCall } from './calls/call-store.ts';

type Ended = Pick<StoredCall, 'kind' | 'status' | 'idempotent' | 'readOnly' | 'partialSideEffects'>;

export function retryOutcomeOf(call: Ended, force: boolean): RetryOutcome {
  const { kind, status, idempotent, readOnly, partialSideEffects } = call;
  if (kind === 'sync') return 'not_async';
  if (status === 'waiting_approval' || status === 'queued' || status === 'running') return 'not_ended';
  if (status === 'succeeded') return 'succeeded';
  const mayHaveActed = partialSideEffects || status === 'outcome_unknown';
  return force || idempotent || readOnly || !mayHaveActed ? 'queued' : 'unsafe';
}
