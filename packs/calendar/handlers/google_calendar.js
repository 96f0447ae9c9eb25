// google_calendar: the three actions, over Calendar v3. Times are instants; what is of a whole day has dates instead.
// @ts-check
import { createHash } from 'node:crypto';
import { asRefusal } from './google_errors.js';
import { eventTimes, instant } from './event_times.js';
import { Refusal } from './refusal.js';

/** Of one request to Google. */
const PAGE = 100;
/** Events of one slot that are looked at; of more, nobody says that the slot is free. */
const MOST_IN_SLOT = 250;
const MOST_CONFLICTS = 50;

/** @typedef {import('../../../tools/handlers/handler.d.ts').Context} Context */

/**
 * @param {{ time_min: string, time_max?: string, max_results?: number }} args
 * @param {Context} context
 */
export async function list_events({ time_min: from, time_max: to, max_results: most = 10 }, context) {
  const timeMin = instant(from, 'time_min');
  const timeMax = to === undefined ? undefined : instant(to, 'time_max');
  if (timeMax !== undefined && timeMax <= timeMin)
    throw new Refusal('VALIDATION', 'time_max has to be after time_min.', { reason: 'EMPTY_RANGE' });
  const { events, more } = await eventsBetween(context, timeMin, timeMax, most);
  return { events: events.map(shown), more };
}

/**
 * @param {{ title: string, start_time: string, duration_minutes?: number, attendees?: string[], description?: string,
 *   location?: string, time_zone?: string, recurrence?: string, all_day?: boolean }} args
 * @param {Context} context
 */
export async function create_event(args, context) {
  const minutes = args.duration_minutes ?? Number(context.config['default_event_duration'] ?? 30);
  const event = {
    // The same call, tried again, is the same event: Google refuses the second of an id.
    id: createHash('sha256').update(context.callId).digest('hex').slice(0, 40),
    summary: args.title,
    description: args.description ?? '',
    ...(args.location !== undefined && { location: args.location }),
    ...eventTimes({ ...args, minutes }),
    ...(args.attendees !== undefined && { attendees: args.attendees.map((email) => ({ email })) }),
  };
  try {
    const invites = args.attendees === undefined ? {} : { send_updates: 'all' };
    return shown(await google(context, 'insert', { event, ...invites }));
  } catch (error) {
    if (!(error instanceof Refusal) || error.type !== 'CONFLICT') throw error;
    return shown(await google(context, 'get', { event_id: event.id }));
  }
}

/**
 * @param {{ date: string, duration_minutes?: number }} args
 * @param {Context} context
 */
export async function check_availability({ date, duration_minutes: minutes = 30 }, context) {
  const start = instant(date, 'date');
  const end = new Date(start.getTime() + minutes * 60_000);
  const { events, more } = await eventsBetween(context, start, end, MOST_IN_SLOT);
  const inTheWay = events.filter(isInTheWay);
  return {
    available: inTheWay.length === 0 && !more,
    start: start.toISOString(),
    end: end.toISOString(),
    conflicts: inTheWay.slice(0, MOST_CONFLICTS).map(shown),
  };
}

/**
 * @param {Context} context
 * @param {'list' | 'get' | 'insert'} action
 * @param {import('../../../tools/handlers/handler.d.ts').JsonObject} args
 * @returns {Promise<{ items?: object[], nextPageToken?: string }>} a page, or an event
 */
function google({ callTool, config }, action, args) {
  const said = { calendar_id: config['calendar_id'] ?? 'primary', ...args };
  return callTool(`google_calendar_api.${action}`, said).catch((error) => {
    throw asRefusal(error);
  });
}

/**
 * Page by page until there are as many as are wanted.
 * @param {Context} context
 * @param {Date} from
 * @param {Date | undefined} to
 * @param {number} most
 */
async function eventsBetween(context, from, to, most) {
  const events = [];
  let pageToken;
  do {
    const page = await google(context, 'list', {
      time_min: from.toISOString(),
      ...(to !== undefined && { time_max: to.toISOString() }),
      max_results: Math.min(PAGE, most - events.length),
      ...(pageToken !== undefined && { page_token: pageToken }),
    });
    events.push(...(page.items ?? []));
    pageToken = page.nextPageToken;
  } while (pageToken !== undefined && events.length < most);
  return { events: events.slice(0, most), more: pageToken !== undefined || events.length > most };
}

/** Neither cancelled, nor shown as free, nor declined by the calendar's owner. */
function isInTheWay({ status, transparency, attendees = [] }) {
  const declined = attendees.some(
    ({ self, responseStatus }) => self === true && responseStatus === 'declined',
  );
  return status !== 'cancelled' && transparency !== 'transparent' && !declined;
}

/** What an agent can use of an event. */
function shown({ id, summary, description, location, start = {}, end = {}, attendees = [], ...event }) {
  return {
    id,
    title: summary ?? '',
    ...(description && { description }),
    ...(location && { location }),
    start: start.dateTime ?? start.date ?? null,
    end: end.dateTime ?? end.date ?? null,
    all_day: start.date !== undefined,
    status: event.status ?? 'confirmed',
    ...(attendees.length > 0 && {
      attendees: attendees.map(({ email, responseStatus }) => ({
        email,
        response: responseStatus ?? 'needsAction',
      })),
    }),
    ...(event.recurringEventId && { recurring_event_id: event.recurringEventId }),
    ...(event.htmlLink && { html_link: event.htmlLink }),
  };
}
