// The terms of a schedule: what is understood of what its owner says, and what an approver is shown of it.
import type { JsonObject } from '../contract/json.ts';
import type { ScheduleTerms } from '../ports/calls/schedule-store.ts';
import { readWhen, wrong } from './when-due.ts';

/** Without `phrase` only where there is a schedule already. */
export interface TermsDraft extends Partial<Omit<ScheduleTerms, 'when'>> {}

export const TERMS_DEFAULTS = {
  timeZone: 'UTC',
  misfire: 'once',
  maxCatchUp: 10,
  overlap: 'skip',
  endAt: null,
  maxRuns: null,
} as const satisfies TermsDraft;

/** Throws ToolFailure VALIDATION. */
export function termsOf(draft: TermsDraft & { readonly phrase: string }, now: number): ScheduleTerms {
  const { phrase } = draft;
  const said = { ...TERMS_DEFAULTS, ...pick(draft) };
  // Made up for, moments come at once: only one would run.
  const overlap = draft.overlap ?? (said.misfire === 'catch_up' ? 'queue' : said.overlap);
  return checked({ ...said, phrase, overlap, when: readWhen(phrase, said.timeZone, now) }, now);
}

/** Undefined: nothing in it changes when the schedule runs. Throws ToolFailure VALIDATION. */
export function mergeTerms(terms: ScheduleTerms, edit: TermsDraft, now: number): ScheduleTerms | undefined {
  const said = pick(edit);
  if (Object.keys(said).length === 0) return undefined;
  const merged = { ...terms, ...said };
  const anew = said.phrase !== undefined || said.timeZone !== undefined;
  return checked(anew ? { ...merged, when: readWhen(merged.phrase, merged.timeZone, now) } : merged, now);
}

/** Part of what an approval is good for: the same words give the same. */
export function shownTerms(terms: ScheduleTerms, callbackUrl?: string): JsonObject {
  const { phrase, timeZone, misfire, maxCatchUp, overlap, endAt, maxRuns } = terms;
  return {
    schedule: phrase,
    time_zone: timeZone,
    misfire,
    max_catch_up: maxCatchUp,
    overlap,
    end_at: endAt === null ? null : new Date(endAt).toISOString(),
    max_runs: maxRuns,
    ...(callbackUrl !== undefined && { callback_url: callbackUrl }),
  };
}

function checked(terms: ScheduleTerms, now: number): ScheduleTerms {
  const { misfire, overlap, endAt } = terms;
  if (misfire === 'catch_up' && overlap === 'skip')
    throw wrong(
      '/overlap',
      'must be allow or queue with misfire catch_up: what is made up for comes at once',
    );
  if (endAt !== null && endAt <= now) throw wrong('/end_at', 'is a time that has passed already');
  return terms;
}

function pick({ phrase, timeZone, misfire, maxCatchUp, overlap, endAt, maxRuns }: TermsDraft): TermsDraft {
  return defined({ phrase, timeZone, misfire, maxCatchUp, overlap, endAt, maxRuns });
}

function defined<T extends object>(values: T): Partial<{ [Name in keyof T]: Exclude<T[Name], undefined> }> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
