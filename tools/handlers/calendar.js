// calendar: list_events, create_event and check_availability over events held in memory, one set per tenant.

const MINUTE_MS = 60_000;
const MAX_EVENTS = 10_000;

/** Every tenant begins with the same events. */
const SEED_EVENTS = [
  { id: 'event-1', title: 'Team stand-up', start: '2026-01-30T09:00:00.000Z', minutes: 15, attendees: [] },
  {
    id: 'event-2',
    title: 'Product review',
    start: '2026-01-30T14:00:00.000Z',
    minutes: 60,
    attendees: ['ada@example.com', 'grace@example.com'],
  },
  { id: 'event-3', title: 'Dentist', start: '2026-02-02T08:30:00.000Z', minutes: 45, attendees: [] },
];

const calendars = new Map();

export function list_events(
  { time_min: timeMin, time_max: timeMax, max_results: maxResults = 10 },
  { tenantId },
) {
  const from = instant(timeMin, 'time_min');
  const to = timeMax === undefined ? Infinity : instant(timeMax, 'time_max');
  return { events: between(calendarOf(tenantId), from, to).slice(0, maxResults).map(published) };
}

export function create_event(
  { title, start_time: startTime, duration_minutes: minutes, attendees = [], description = '' },
  { tenantId, config },
) {
  const calendar = calendarOf(tenantId);
  if (calendar.length >= MAX_EVENTS) throw failure('PERMANENT', 'The calendar is full.');
  const start = instant(startTime, 'start_time');
  const event = {
    id: `event-${calendar.length + 1}`,
    title,
    description,
    start,
    end: start + (minutes ?? config.default_event_duration ?? 30) * MINUTE_MS,
    attendees,
  };
  calendar.push(event);
  return published(event);
}

export function check_availability({ date, duration_minutes: minutes = 30 }, { tenantId }) {
  const start = instant(date, 'date');
  const conflicts = between(calendarOf(tenantId), start, start + minutes * MINUTE_MS).map(published);
  return { available: conflicts.length === 0, conflicts };
}

function calendarOf(tenantId = '') {
  let calendar = calendars.get(tenantId);
  if (calendar === undefined) {
    calendar = SEED_EVENTS.map(({ minutes, ...event }) => {
      const start = Date.parse(event.start);
      return { description: '', ...event, start, end: start + minutes * MINUTE_MS };
    });
    calendars.set(tenantId, calendar);
  }
  return calendar;
}

/** Events that overlap the range, earliest first. */
function between(calendar, from, to) {
  return calendar.filter(({ start, end }) => start < to && end > from).sort((a, b) => a.start - b.start);
}

function published({ id, title, description, start, end, attendees }) {
  return {
    id,
    summary: title,
    description,
    start: { dateTime: new Date(start).toISOString() },
    end: { dateTime: new Date(end).toISOString() },
    attendees: attendees.map((email) => ({ email })),
  };
}

function instant(text, parameter) {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw failure('VALIDATION', `${parameter} must be an ISO 8601 date and time.`);
  return ms;
}

function failure(type, message) {
  return Object.assign(new Error(message), { type, retryable: false, partialSideEffects: false });
}
