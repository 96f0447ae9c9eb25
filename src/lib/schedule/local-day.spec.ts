// LocalDay: the day's name and end, over changes of clocks, and when the machine's clock is set back.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { LocalDay } from './local-day.ts';

const at = (text: string) => Date.parse(text);

it.each([
  ['UTC', '2026-11-23T00:00:00Z', '2026-11-23', '2026-11-24T00:00:00Z'],
  ['UTC', '2026-11-23T23:59:59.999Z', '2026-11-23', '2026-11-24T00:00:00Z'],
  ['Europe/Berlin', '2026-11-23T22:30:00Z', '2026-11-23', '2026-11-23T23:00:00Z'],
  ['Europe/Berlin', '2026-10-25T12:00:00Z', '2026-10-25', '2026-10-25T23:00:00Z'],
  ['Europe/Berlin', '2026-03-29T00:30:00Z', '2026-03-29', '2026-03-29T22:00:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T20:00:00Z', '2026-04-05', '2026-04-05T13:30:00Z'],
])('in %s at %s it is %s until %s', (zone, now, name, end) => {
  expect(new LocalDay(zone).at(at(now))).toMatchObject({ name, endsAt: at(end) });
});

it('a clock that is set back is in the day that it shows', () => {
  const day = new LocalDay('UTC');
  expect(day.at(at('2026-11-24T00:10:00Z')).name).toBe('2026-11-24');
  expect(day.at(at('2026-11-23T23:50:00Z')).name).toBe('2026-11-23');
});

it('a day ends where the next one begins, whenever it is asked', () => {
  const moments = fc.integer({ min: at('2020-01-01T00:00:00Z'), max: at('2030-01-01T00:00:00Z') });
  const zones = fc.constantFrom(
    'UTC',
    'Europe/Berlin',
    'America/New_York',
    'Asia/Kathmandu',
    'Australia/Lord_Howe',
  );
  fc.assert(
    fc.property(moments, zones, (now, zone) => {
      const { name, endsAt } = new LocalDay(zone).at(now);
      expect(endsAt).toBeGreaterThan(now);
      expect(new LocalDay(zone).at(endsAt - 1).name).toBe(name);
      expect(new LocalDay(zone).at(endsAt).name).not.toBe(name);
    }),
  );
});
