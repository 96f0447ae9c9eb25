import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cronProblem } from './cron.ts';
import { parseSchedule } from './parse-schedule.ts';

const recurring = (cron: string) => ({ ok: true, schedule: { kind: 'recurring', cron } });
const after = (delayMs: number) => ({ ok: true, schedule: { kind: 'once', delayMs } });

describe('parseSchedule', () => {
  it.each([
    ['5m', after(300_000)],
    ['30s', after(30_000)],
    ['1d', after(86_400_000)],
    ['in 2 hours', after(7_200_000)],
    ['In 10 Minutes', after(600_000)],
    ['daily 9am', recurring('0 9 * * *')],
    ['every day at 9:30 pm', recurring('30 21 * * *')],
    ['weekdays 6pm', recurring('0 18 * * 1-5')],
    ['weekends at noon', recurring('0 12 * * 0,6')],
    ['monday 10am', recurring('0 10 * * 1')],
    ['Mon, Wed 14:00', recurring('0 14 * * 1,3')],
    ['fridays and mondays at 12am', recurring('0 0 * * 1,5')],
    ['daily 12pm', recurring('0 12 * * *')],
    ['daily 23', recurring('0 23 * * *')],
    ['every 15m', recurring('*/15 * * * *')],
    ['every hour', recurring('0 * * * *')],
    ['every 6 hours', recurring('0 */6 * * *')],
    ['monthly 1st 9am', recurring('0 9 1 * *')],
    ['last day 18:00', recurring('0 18 L * *')],
    ['*/15 * * * *', recurring('*/15 * * * *')],
    ['0 9 * * mon-fri', recurring('0 9 * * MON-FRI')],
    ['@daily', recurring('0 0 * * *')],
    ['2026-12-24 18:00', { ok: true, schedule: { kind: 'once', at: '2026-12-24T18:00:00' } }],
    ['2026-12-24T18:00:00+01:00', { ok: true, schedule: { kind: 'once', at: '2026-12-24T18:00:00+01:00' } }],
  ])('reads %j', (text, expected) => {
    expect(parseSchedule(text)).toEqual(expected);
  });

  it.each([
    ['daily 9', /morning or in the evening/, ['daily 9am', 'daily 9pm']],
    ['monday', /at what time/, ['monday 9am', 'monday 00:00']],
    ['every day', /at what time/, ['daily 9am', 'daily 00:00']],
    ['5M', /minutes or months/, ['5m', 'monthly 1st 9am']],
    [
      'every 7 minutes',
      /does not divide 60m/,
      ['every 2m', 'every 3m', 'every 4m', 'every 5m', 'every 6m', 'every 10m', 'every 12m', '*/7 * * * *'],
    ],
    ['biweekly 9am', /twice in the period/, ['mon,thu 9am', '0 9 1,15 * *']],
    ['05/06 9am', /month or the day first/, ['2026-12-24 18:00']],
    ['2026-02-30 09:00', /no such date/, ['2026-12-24 18:00']],
    ['every 10 seconds', /once a minute/, ['every minute']],
    ['61 * * * *', /minute/, ['0 9 * * 1-5']],
    ['0/5 * * * *', /step stands behind \* or a range/, ['*/5 * * * *']],
    ['5/15 * * * *', /step/, ['5-59/15 * * * *']],
    ['0,10/20 8/4 1/2 * mon', /step/, ['0,10-59/20 8-23/4 1-31/2 * MON']],
    ['0/70 * * * *', /step/i, ['0 9 * * 1-5']],
    ['10-5 * * * *', /10-5/, ['0 9 * * 1-5']],
    ['1/2/2026 9am', /month or the day first/, ['2026-12-24 18:00']],
    ['* * * * * *', /5 fields/, ['0 9 * * 1-5']],
    ['0 9 31 2 *', /never comes/, ['0 9 * * 1-5']],
    ['400d', /366 days/, ['1d']],
    ['daily 25:00', /no time of the day/, ['daily 9am', 'daily 18:30']],
  ])('refuses %j, and offers what may have been meant', (text, problem, offered) => {
    expect(parseSchedule(text)).toEqual({
      ok: false,
      problem: expect.stringMatching(problem) as string,
      offered,
    });
  });

  it.each([
    'daily 9',
    'monday',
    'every day',
    '5M',
    'every 7m',
    'every 5h',
    'biweekly 9am',
    '1/2 9am',
    'soon',
    '',
  ])('what it offers for %j, it reads', (text) => {
    const parsed = parseSchedule(text);
    const offered = parsed.ok ? [] : parsed.offered;
    expect(offered.length).toBeGreaterThan(0);
    expect(offered.filter((offer) => !parseSchedule(offer).ok)).toEqual([]);
  });

  it('never throws, and what it reads as recurring is a cron expression', () => {
    const words = fc.constantFrom(
      'daily',
      'every',
      'monday',
      'at',
      '9',
      '9am',
      '14:00',
      'in',
      '5',
      'm',
      '*/5',
      '*',
      'last',
      'day',
      '1st',
      'monthly',
    );
    const texts = fc.oneof(
      fc.string(),
      fc.array(words, { maxLength: 7 }).map((list) => list.join(' ')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const parsed = parseSchedule(text);
        const cron = parsed.ok && parsed.schedule.kind === 'recurring' ? parsed.schedule.cron : '0 9 * * *';
        expect(cronProblem(cron)).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });
});
