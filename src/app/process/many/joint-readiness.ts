// What /readyz of the metrics port tells where several processes serve: ready as long as none that serves refuses calls.
import type { JsonObject } from '../../../contract/json.ts';
import type { ProcessState, ReadinessAnswer } from './messages.ts';

/** A sentence for the operator; undefined: all of them serve. */
export function missingProcesses(states: readonly ProcessState[]): string | undefined {
  const missing = states.filter(({ state }) => state === 'starting' || state === 'ending');
  if (missing.length === 0) return undefined;
  const which = missing.map(({ process }) => process).join(', ');
  return `${states.length - missing.length} of ${states.length} processes serve; process ${which} does not, and is started again by itself`;
}

/** Why calls may be refused: connections go to each of them. */
export function refusingProcess(states: readonly ProcessState[]): string | undefined {
  const refusing = states.find(({ state }) => state === 'refusing');
  return refusing && `process ${refusing.process}: ${refusing.reason ?? 'refuses calls'}`;
}

/** `answers`: of those processes that serve, of which one that refuses comes first in what is told. */
export function jointReadiness(
  states: readonly ProcessState[],
  answers: readonly ReadinessAnswer[],
  phase: string | undefined,
): ReadinessAnswer {
  const told = answers.find(({ status }) => status !== 200) ?? answers[0];
  const processes: JsonObject = Object.fromEntries(
    states.map(({ process, state, reason }) => [
      process,
      reason === undefined ? state : `${state}: ${reason}`,
    ]),
  );
  if (told === undefined || phase !== undefined) {
    const reason = phase ?? 'no process serves; each is started again by itself';
    return { status: 503, body: { ...told?.body, status: 'unavailable', reason, processes } };
  }
  return { status: told.status, body: { ...told.body, processes } };
}
