// The arithmetic of the pack `calendar`: ends are minutes of real time, days are days, in every zone and on every day of the calendar.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';

interface Moment {
  readonly dateTime?: string;
  readonly date?: string;
  readonly timeZone?: string;
}
type EventTimes = (args: { start_time: string; minutes: number; time_zone?: string; all_day?: boolean }) => {
  readonly start: Moment;
  readonly end: Moment;
};

const FILE: string = '../../packs/calendar/handlers/event_times.js';
const { eventTimes } = (await import(FILE)) as { eventTimes: EventTimes };

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Pacific/Apia',
];
const instants = fc.date({
  min: new Date('2000-01-01T00:00:00Z'),
  max: new Date('2099-12-31T00:00:00Z'),
  noInvalidDate: true,
});
const minutes = fc.integer({ min: 5, max: 480 });
const offset = fc.integer({ min: -12 * 4, max: 14 * 4 }).map((quarters) => quarters * 15);

/** The instant as somebody at that offset writes it. */
function written(at: Date, minutesEast: number): string {
  const local = new Date(at.getTime() + minutesEast * 60_000).toISOString().slice(0, 19);
  const size = Math.abs(minutesEast);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${local}${minutesEast < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

const whole = (at: Date) => new Date(Math.floor(at.getTime() / 1_000) * 1_000);

it('an event lasts as many minutes as it says, whatever the clocks do, and however its start is written', () => {
  fc.assert(
    fc.property(instants, minutes, offset, fc.constantFrom(...ZONES), (at, length, east, zone) => {
      const { start, end } = eventTimes({ start_time: written(at, east), minutes: length, time_zone: zone });
      expect(start).toEqual({ dateTime: whole(at).toISOString(), timeZone: zone });
      expect(Date.parse(end.dateTime ?? '') - Date.parse(start.dateTime ?? '')).toBe(length * 60_000);
    }),
  );
});

it('a whole day is the day that its offset or its zone has, and ends on the next, over leap days and years too', () => {
  fc.assert(
    fc.property(
      instants,
      offset,
      fc.option(fc.constantFrom(...ZONES), { nil: undefined }),
      (at, east, zone) => {
        const text = written(at, east);
        const { start, end } = eventTimes({
          start_time: text,
          minutes: 30,
          all_day: true,
          ...(zone && { time_zone: zone }),
        });
        const day =
          zone === undefined ? text.slice(0, 10) : whole(at).toLocaleDateString('sv-SE', { timeZone: zone });
        expect(start).toEqual({ date: day });
        expect(Date.parse(`${end.date}T00:00:00Z`) - Date.parse(`${day}T00:00:00Z`)).toBe(86_400_000);
      },
    ),
  );
});

it('a time without an offset, and a zone that is none, are refused', () => {
  for (const start of ['2026-12-01T09:00:00', '2026-12-01', 'noon', '2026-13-01T00:00:00Z'])
    expect(() => eventTimes({ start_time: start, minutes: 30 })).toThrow('start_time');
  for (const zone of ['+01:00', 'Mars/Base', ''])
    expect(() => eventTimes({ start_time: '2026-12-01T09:00:00Z', minutes: 30, time_zone: zone })).toThrow(
      'time_zone',
    );
});
