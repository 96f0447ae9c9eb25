// Where an event begins and ends, as Calendar v3 wants it said. An end is the start and so many minutes of real time, over changes of
// the clocks too; a recurring event keeps its hour in a zone.
// @ts-check
import { Refusal } from './refusal.js';

const OFFSET = /(?:[zZ]|[+-]\d{2}:?\d{2})$/;
const DAY_MINUTES = 1440;

/**
 * @param {string} text
 * @param {string} field
 */
export function instant(text, field) {
  const at = new Date(text);
  if (!OFFSET.test(text) || Number.isNaN(at.getTime()))
    throw new Refusal(
      'VALIDATION',
      `${field}: expected a time with its offset, such as 2025-12-30T14:00:00Z.`,
    );
  return at;
}

/**
 * @param {{ start_time: string, minutes: number, time_zone?: string, recurrence?: string, all_day?: boolean }} args
 */
export function eventTimes({ start_time: text, minutes, time_zone: zone, recurrence, all_day: allDay }) {
  const start = instant(text, 'start_time');
  if (zone !== undefined && !isZone(zone))
    throw new Refusal('VALIDATION', 'time_zone: expected an IANA name such as Europe/Berlin.', {
      reason: 'UNKNOWN_TIMEZONE',
    });
  if (recurrence !== undefined) checkRecurrence(recurrence, zone, allDay);
  const again = recurrence === undefined ? {} : { recurrence: [recurrence] };
  if (allDay === true) {
    // The day that was written: its offset says whose.
    const first = zone === undefined ? text.slice(0, 10) : dateIn(start, zone);
    return {
      start: { date: first },
      end: { date: daysLater(first, Math.max(1, Math.ceil(minutes / DAY_MINUTES))) },
      ...again,
    };
  }
  const inZone = zone === undefined ? {} : { timeZone: zone };
  const end = new Date(start.getTime() + minutes * 60_000);
  return {
    start: { dateTime: start.toISOString(), ...inZone },
    end: { dateTime: end.toISOString(), ...inZone },
    ...again,
  };
}

function checkRecurrence(recurrence, zone, allDay) {
  if (!/^RRULE:FREQ=(?:DAILY|WEEKLY|MONTHLY|YEARLY)(?:;[A-Z]+=[A-Z0-9,+-]+)*$/.test(recurrence))
    throw new Refusal('VALIDATION', 'recurrence: expected one rule such as RRULE:FREQ=WEEKLY;COUNT=10.');
  if (zone === undefined && allDay !== true)
    throw new Refusal(
      'VALIDATION',
      'time_zone is needed with recurrence: the event keeps its hour in that zone.',
    );
}

function isZone(zone) {
  try {
    // Offsets such as +01:00 are zones to Intl, and none to Google.
    return /^[A-Za-z]/.test(zone) && dateIn(new Date(0), zone) !== '';
  } catch {
    return false;
  }
}

function dateIn(at, timeZone) {
  return new Intl.DateTimeFormat('en-CA', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).format(at);
}

function daysLater(date, days) {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
}
