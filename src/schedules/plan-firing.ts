// What is to be done about a schedule that is due: which of its moments become calls, and which one it waits for next.
import type { NewCall } from '../ports/calls/call-store.ts';
import type { DueSchedule, FiringPlan, LastStatus } from '../ports/calls/schedule-store.ts';
import { firstAfter, lastWithin } from './when-due.ts';

/** A moment that passed longer ago than this was missed: nobody was there to see it. */
export const ON_TIME_MS = 60_000;
/** How soon a single run that the queue had no capacity for is tried again. */
const ROOM_AGAIN_MS = 30_000;

/** Pure. `makeCall` writes the call of a moment. Throws where what the row says cannot be read. */
export function planFiring(due: DueSchedule, makeCall: (fireTime: number) => NewCall): FiringPlan {
  const { schedule, now, capacity, busy } = due;
  const { terms, runs } = schedule;
  const kept = terms.misfire === 'catch_up' ? terms.maxCatchUp : 1;
  // One more than is kept shows whether there were more.
  const came = lastWithin(terms, schedule.nextRun ?? now, now, kept + 1);
  if (busy && terms.overlap === 'skip') return waitFor(due, now, 'skipped_overlap');
  const worthwhile = came.slice(-kept).filter((time) => terms.misfire !== 'skip' || now - time <= ON_TIME_MS);
  // One after the other: the next has its turn when this one has ended, and may be due by then already.
  const turn = terms.overlap === 'queue' ? worthwhile.slice(0, 1) : worthwhile;
  const allowed = turn.slice(0, terms.maxRuns === null ? turn.length : Math.max(0, terms.maxRuns - runs));
  const fit = allowed.slice(0, Math.max(0, capacity));
  const dropped = fit.length < allowed.length;
  // The only moment it has is worth waiting for.
  if (dropped && terms.when.kind === 'once')
    return { ...waitFor(due, now, 'dropped'), nextRun: now + ROOM_AGAIN_MS, goesOn: true };
  const status = dropped ? 'dropped' : fit.length > 0 ? 'fired' : 'missed';
  const waiting = waitFor(due, terms.overlap === 'queue' ? (turn[0] ?? now) : now, status);
  const ended = terms.maxRuns !== null && runs + fit.length >= terms.maxRuns;
  return {
    ...waiting,
    ...(ended && FINISHED),
    calls: fit.map(makeCall),
    missed: came.length > worthwhile.length,
  };
}

const FINISHED = { nextRun: null, goesOn: false } as const;

/** Of one that cannot be planned: it is put aside for a human to look at. */
export const BROKEN: FiringPlan = { ...FINISHED, calls: [], status: 'broken', missed: false };

function waitFor({ schedule: { terms } }: DueSchedule, after: number, status: LastStatus): FiringPlan {
  const nextRun = firstAfter(terms, after);
  return { calls: [], nextRun, goesOn: nextRun !== null, status, missed: false };
}
