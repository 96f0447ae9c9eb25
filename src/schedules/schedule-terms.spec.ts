// The terms of a schedule: what is understood of a phrase, and when that is due.
import { describe, expect, it } from 'vitest';
import { ToolFailure } from '../contract/call/tool-failure.ts';
import { mergeTerms, shownTerms, termsOf } from './schedule-terms.ts';
import { firstAfter, lastWithin, upcoming } from './when-due.ts';

const NOW = Date.parse('2026-03-27T12:00:00Z');
const iso = (time: number) => new Date(time).toISOString().slice(0, 16);

function refusal(work: () => unknown): { message: string; details: unknown } {
  try {
    work();
  } catch (error) {
    if (error instanceof ToolFailure) return { message: error.message, details: error.details };
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('termsOf', () => {
  it('counts a delay from now, and takes none for a second', () => {
    expect(termsOf({ phrase: 'in 5 minutes' }, NOW)).toMatchObject({
      when: { kind: 'once', at: NOW + 300_000 },
    });
    expect(termsOf({ phrase: '1s' }, NOW)).toMatchObject({ when: { at: NOW + 1_000 } });
  });

  it('reads a time of day in the zone that is named', () => {
    const { when } = termsOf({ phrase: '2026-07-01 09:00', timeZone: 'Europe/Berlin' }, NOW);
    expect(when).toEqual({ kind: 'once', at: Date.parse('2026-07-01T07:00Z') });
  });

  it('lets moments that are made up for come one after the other, unless told', () => {
    expect(termsOf({ phrase: 'daily 9am', misfire: 'catch_up' }, NOW).overlap).toBe('queue');
    expect(termsOf({ phrase: 'daily 9am', misfire: 'catch_up', overlap: 'allow' }, NOW).overlap).toBe(
      'allow',
    );
  });

  it('says what a phrase of two meanings could mean', () => {
    const { message, details } = refusal(() => termsOf({ phrase: 'daily 9' }, NOW));
    expect(message).toMatch(/Say one of: daily 9am \| daily 9pm\./);
    expect(details).toMatchObject({
      readings: ['daily 9am', 'daily 9pm'],
      violations: [{ pointer: '/schedule' }],
    });
  });

  it.each([
    [{ phrase: '2020-01-01 09:00' }, '/schedule'],
    [{ phrase: 'daily 9am', timeZone: 'Mars/Olympus' }, '/time_zone'],
    [{ phrase: 'daily 9am', endAt: NOW - 1 }, '/end_at'],
    [{ phrase: 'daily 9am', misfire: 'catch_up', overlap: 'skip' }, '/overlap'],
  ] as const)('refuses %j', (draft, pointer) => {
    expect(refusal(() => termsOf(draft, NOW)).details).toMatchObject({ violations: [{ pointer }] });
  });
});

describe('mergeTerms', () => {
  const terms = termsOf({ phrase: '5m' }, NOW);

  it('reads the phrase anew where it or its zone changes, and only there', () => {
    expect(mergeTerms(terms, {}, NOW + 60_000)).toBeUndefined();
    expect(mergeTerms(terms, { maxRuns: 3 }, NOW + 60_000)).toMatchObject({
      maxRuns: 3,
      when: { at: NOW + 300_000 },
    });
    expect(mergeTerms(terms, { phrase: '5m' }, NOW + 60_000)).toMatchObject({ when: { at: NOW + 360_000 } });
  });

  it('an approver is shown the same of the same words, whenever they were said', () => {
    expect(shownTerms(termsOf({ phrase: '5m' }, NOW + 60_000))).toEqual(shownTerms(terms));
  });
});

describe('the moments of a schedule', () => {
  const berlin = termsOf({ phrase: 'daily 02:30', timeZone: 'Europe/Berlin' }, NOW);

  it('are the ones of its zone, a change of clocks among them', () => {
    const nextRun = firstAfter(berlin, NOW);
    const coming = upcoming({ nextRun, runs: 0, terms: berlin }, 3).map(iso);
    expect(coming).toEqual(['2026-03-28T01:30', '2026-03-29T01:00', '2026-03-30T00:30']);
    expect(lastWithin(berlin, NOW, Date.parse('2026-03-30T12:00Z'), 5).map(iso)).toEqual(coming);
  });

  it('end with its last run and at its end', () => {
    const nextRun = firstAfter(berlin, NOW);
    expect(upcoming({ nextRun, runs: 3, terms: { ...berlin, maxRuns: 5 } }, 5)).toHaveLength(2);
    const endAt = Date.parse('2026-03-29T02:00Z');
    expect(upcoming({ nextRun, runs: 0, terms: { ...berlin, endAt } }, 5)).toHaveLength(2);
    expect(firstAfter({ ...berlin, endAt }, endAt)).toBeNull();
  });
});
