// When a task is due, held to the calendar of its time zone as Intl has it: changes of clocks, leap days, ends of months.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstAfter, readWhen } from './when-due.ts';

const ZONES = [
  'UTC', 'Europe/Berlin', 'Europe/London', 'America/New_York', 'America/St_Johns', 'America/Havana', 'America/Santiago',
  'Africa/Cairo', 'Asia/Beirut', 'Asia/Kolkata', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Pacific/Chatham', 'Pacific/Apia',
]; // oxfmt-ignore
const MINUTE = 60_000;
const DAY = 86_400_000;

const anywhen = fc
  .integer({ min: Date.UTC(2024, 0, 1) / MINUTE, max: Date.UTC(2034, 0, 1) / MINUTE })
  .map((at) => at * MINUTE);
const minute = fc.integer({ min: 0, max: 59 });
/** Where the clocks are changed, and all others. */
const hour = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 23 }));
const two = (value: number) => String(value).padStart(2, '0');

const formats = new Map<string, Intl.DateTimeFormat>();

/** "2026-03-29 02:30", on the clocks of the zone. */
function local(at: number, timeZone: string): string {
  let format = formats.get(timeZone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
    formats.set(timeZone, format);
  }
  return format.format(at);
}

/** Shortly before the clocks of the zone change. */
const changes = ZONES.flatMap((timeZone) =>
  Array.from({ length: 3 * 365 }, (_, day) => Date.UTC(2026, 0, 1) + day * DAY)
    .filter((at) => local(at, timeZone).slice(11) !== local(at + DAY, timeZone).slice(11))
    .map((at) => [timeZone, at - DAY] as const),
);
const somewhen = fc.oneof(fc.constantFrom(...changes), fc.tuple(fc.constantFrom(...ZONES), anywhen));

function moments(phrase: string, timeZone: string, after: number, count: number): number[] {
  const when = readWhen(phrase, timeZone, after);
  const found: number[] = [];
  for (let last = after; found.length < count;) {
    const next = firstAfter({ when, timeZone, endAt: null }, last);
    if (next === null) break;
    expect(next).toBeGreaterThan(last);
    found.push((last = next));
  }
  return found;
}

/** At the local time that was said; where the clocks leave that out, at the first moment after. */
function expectAt(at: number, said: string, timeZone: string): void {
  const shown = local(at, timeZone);
  if (shown === said) return;
  expect(shown > said && local(at - MINUTE, timeZone) < said, `${said} in ${timeZone} came at ${shown}`).toBe(
    true,
  );
}

describe('a task is due', () => {
  it('every day once at the time that was said, whatever the clocks of its zone do', () => {
    fc.assert(
      fc.property(somewhen, hour, minute, ([timeZone, after], h, m) => {
        const time = `${two(h)}:${two(m)}`;
        const found = moments(`daily ${time}`, timeZone, after, 5);
        const days = found.map((at) => local(at, timeZone).slice(0, 10));
        for (const [index, at] of found.entries()) expectAt(at, `${days[index] ?? ''} ${time}`, timeZone);
        for (const [index, day] of days.slice(1).entries())
          expect(Date.parse(day) - Date.parse(days[index] ?? '')).toBe(DAY);
      }),
    );
  });

  it('on weekdays alone, and on the day of the week that was said', () => {
    fc.assert(
      fc.property(somewhen, hour, ([timeZone, after], h) => {
        const dayOf = (at: number) => new Date(local(at, timeZone).slice(0, 10)).getUTCDay();
        for (const at of moments(`weekdays ${two(h)}:00`, timeZone, after, 7))
          expect([1, 2, 3, 4, 5]).toContain(dayOf(at));
        for (const at of moments(`monday ${two(h)}:00`, timeZone, after, 3)) expect(dayOf(at)).toBe(1);
      }),
    );
  });

  it('on the 29th of February in leap years alone, on the 31st in months that have one, on the last day of each', () => {
    fc.assert(
      fc.property(somewhen, ([timeZone, after]) => {
        const [leap = 0] = moments('0 9 29 2 *', timeZone, after, 1);
        expect(local(leap, timeZone)).toMatch(/^\d{4}-02-29 09:00$/);
        expect(Number(local(leap, timeZone).slice(0, 4)) % 4).toBe(0);
        for (const at of moments('monthly 31st 09:00', timeZone, after, 3))
          expect(local(at, timeZone)).toMatch(/-(01|03|05|07|08|10|12)-31 09:00$/);
        for (const at of moments('last day 18:00', timeZone, after, 14)) {
          const day = new Date(local(at, timeZone).slice(0, 10));
          expect(new Date(day.getTime() + DAY).getUTCDate()).toBe(1);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('as long from now as was said, over changes of clocks and leap days too', () => {
    fc.assert(
      fc.property(somewhen, fc.integer({ min: 1, max: 300 }), ([timeZone, now], count) => {
        const units = { s: 1_000, m: MINUTE, h: 60 * MINUTE, d: DAY };
        for (const [unit, ms] of Object.entries(units))
          expect(readWhen(`${count}${unit}`, timeZone, now)).toEqual({ kind: 'once', at: now + count * ms });
      }),
    );
  });

  it('at a date and time of its zone, once', () => {
    fc.assert(
      fc.property(somewhen, hour, minute, ([timeZone, now], h, m) => {
        const said = `${new Date(now + 2 * DAY).toISOString().slice(0, 10)} ${two(h)}:${two(m)}`;
        const when = readWhen(said, timeZone, now);
        if (when.kind !== 'once') throw new Error('it comes again');
        expectAt(when.at, said, timeZone);
        expect(firstAfter({ when, timeZone, endAt: null }, when.at)).toBeNull();
      }),
    );
  });
});
