// WaitingCall: a call in the queues of this replica, and what ends its wait when no slot does.
import type { RateLimitState } from '../../../contract/call/tool-response.ts';
import type { AdmissionRequest, LeaseRule } from '../../../ports/admission-control.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Waiter } from '../memory/lease-slots.ts';
import type { AdmitReply } from './admit-reply.ts';

export type FullDecision = Omit<Extract<AdmitReply, { kind: 'rate' }>, 'kind' | 'rule'> & {
  readonly kind: 'full';
  readonly rule: LeaseRule;
};
export type SharedDecision = Extract<AdmitReply, { kind: 'granted' | 'rate' | 'budget' }> | FullDecision;

export interface WaitingCall extends Waiter {
  readonly request: AdmissionRequest;
  /** The lease that was full when it asked last: only a slot of this one lets it ask again. */
  blockedOn: string;
  asking: boolean;
  done: boolean;
  rates: readonly RateLimitState[];
  readonly settle: (decision: SharedDecision) => void;
  readonly fail: (reason: unknown) => void;
  disarm: () => void;
}

interface Endings {
  readonly aborted: () => void;
  /** It has waited as long as this lease lets it. */
  readonly late: (rule: LeaseRule) => void;
}

/** By its signal, or by the lease that lets it wait the shortest. `call.disarm` takes both back. */
export function endInTime(
  call: WaitingCall,
  full: readonly LeaseRule[],
  signal: AbortSignal,
  clock: Clock,
  { aborted, late }: Endings,
): void {
  const shortest = full.reduce((least, rule) => (rule.maxWaitMs < least.maxWaitMs ? rule : least));
  const stopTimer = clock.after(shortest.maxWaitMs, () => late(shortest));
  signal.addEventListener('abort', aborted, { once: true });
  call.disarm = () => {
    stopTimer();
    signal.removeEventListener('abort', aborted);
  };
}
