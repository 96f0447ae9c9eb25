import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { instantOf, isTimeZone, nextTimes, previousTimes } from './cron.ts';

const isoTimes = (cron: string, zone: string, after: string, count: number) =>
  nextTimes(cron, zone, Date.parse(after), count).map((time) => new Date(time).toISOString().slice(0, 16));

describe('nextTimes', () => {
  it.each([
    ['Europe/Berlin', '30 2 * * *', '2026-03-28T12:00Z', ['2026-03-29T01:00', '2026-03-30T00:30']],
    ['America/New_York', '30 2 * * *', '2026-03-07T12:00Z', ['2026-03-08T07:00', '2026-03-09T06:30']],
    ['Australia/Lord_Howe', '15 2 * * *', '2026-10-03T00:00Z', ['2026-10-03T15:30', '2026-10-04T15:15']],
  ])(
    'in %s a time that the clocks leave out is due at the first moment after',
    (zone, cron, from, expected) => {
      expect(isoTimes(cron, zone, from, 2)).toEqual(expected);
    },
  );

  it.each([
    ['Europe/Berlin', '30 2 * * *', '2026-10-24T12:00Z', ['2026-10-25T00:30', '2026-10-26T01:30']],
    ['America/New_York', '30 1 * * *', '2026-10-31T12:00Z', ['2026-11-01T05:30', '2026-11-02T06:30']],
  ])('in %s a time that comes twice is due once', (zone, cron, from, expected) => {
    expect(isoTimes(cron, zone, from, 2)).toEqual(expected);
  });

  it('what runs every half hour runs in the hour that comes twice, both times', () => {
    const times = nextTimes('*/30 * * * *', 'Europe/Berlin', Date.parse('2026-10-24T23:00Z'), 8);
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(new Set(gaps)).toEqual(new Set([1_800_000]));
  });
});

describe('previousTimes', () => {
  it('looks back on the moments that nextTimes looked forward to, changes of clocks between them', () => {
    const changes = ['2026-03-29T00:00Z', '2026-10-25T00:00Z', '2026-04-04T15:00Z', '2026-11-01T05:00Z'];
    const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe');
    const crons = fc.constantFrom('*/20 * * * *', '30 2 * * *', '30 1 * * *', '15 2 * * 0', '45 1,2,3 * * *');
    const starts = fc.constantFrom(...changes).map((change) => Date.parse(change) - 6 * 3_600_000);
    fc.assert(
      fc.property(zones, crons, starts, (zone, cron, start) => {
        const ahead = nextTimes(cron, zone, start, 30);
        const last = ahead.at(-1) ?? 0;
        expect(previousTimes(cron, zone, last + 1, 30)).toEqual(ahead);
      }),
      { numRuns: 40 },
    );
  });
});

describe('instantOf', () => {
  it('reads a local time in its zone, and an offset as it is', () => {
    expect(instantOf('2026-07-01T09:00:00', 'Europe/Berlin')).toBe(Date.parse('2026-07-01T07:00Z'));
    expect(instantOf('2026-07-01T09:00:00+05:00', 'Europe/Berlin')).toBe(Date.parse('2026-07-01T04:00Z'));
  });
});

it.each([
  ['2026-03-29T02:30:00', 'Europe/Berlin', '2026-03-29T01:00Z'],
  ['2026-04-24T00:01:00', 'Africa/Cairo', '2026-04-23T22:00Z'],
  ['2026-10-04T02:10:00', 'Australia/Lord_Howe', '2026-10-03T15:30Z'],
  ['2026-10-25T02:30:00', 'Europe/Berlin', '2026-10-25T00:30Z'],
])(
  '%s in %s, which the clocks leave out or show twice, is the first moment after, or the first of both',
  (at, zone, expected) => {
    expect(instantOf(at, zone)).toBe(Date.parse(expected));
  },
);

describe('isTimeZone', () => {
  it.each([
    ['Europe/Berlin', true],
    ['UTC', true],
    ['Mars/Olympus', false],
    ['', false],
  ])('%j: %j', (name, expected) => {
    expect(isTimeZone(name)).toBe(expected);
  });
});
