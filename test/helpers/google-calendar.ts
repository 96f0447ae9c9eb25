// A server that speaks Calendar v3 for listing, reading and inserting events, with Google's bounds and the bodies of its errors.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { LoopbackServers } from './loopback-servers.ts';

interface Moment {
  readonly dateTime?: string;
  readonly date?: string;
  readonly timeZone?: string;
}

export interface CalendarEvent {
  readonly id: string;
  readonly summary?: string;
  readonly status?: string;
  readonly transparency?: string;
  readonly start: Moment;
  readonly end: Moment;
  readonly attendees?: readonly { email: string; self?: boolean; responseStatus?: string }[];
  readonly recurringEventId?: string;
  readonly recurrence?: readonly string[];
}

export class GoogleCalendar {
  readonly #servers = new LoopbackServers();
  readonly events = new Map<string, CalendarEvent[]>();
  /** The tokens that it takes. */
  readonly tokens = new Set<string>();
  /** Query of each request, and the method. */
  readonly asked: { readonly method: string; readonly query: Readonly<Record<string, string>> }[] = [];
  /** Answers every request so: status, reason, more headers. `cut`: the next event is made, and the connection goes. */
  next: { status: number; reason?: string; headers?: Record<string, string> } | 'cut' | undefined;
  /** Most events of one page, whatever is asked for. */
  page = 250;
  url = '';

  async start(): Promise<this> {
    this.url = await this.#servers.http((request, response) => this.#answer(request, response));
    return this;
  }

  close(): Promise<void> {
    return this.#servers.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', this.url);
    const { method = 'GET' } = request;
    this.asked.push({ method, query: Object.fromEntries(searchParams) });
    const token = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
    if (!this.tokens.has(token)) return fail(response, 401, 'authError', 'Invalid Credentials');
    const wanted = this.next;
    if (wanted === 'cut') this.next = undefined;
    if (wanted !== undefined && wanted !== 'cut')
      return fail(response, wanted.status, wanted.reason ?? 'backendError', 'Told by Google', wanted.headers);
    const [, calendar = '', id] = /^\/calendars\/([^/]+)\/events(?:\/([^/]+))?$/.exec(pathname) ?? [];
    const events = this.events.get(decodeURIComponent(calendar));
    if (events === undefined) return fail(response, 404, 'notFound', 'Not Found');
    if (method === 'POST')
      return this.#insert(events, (await json(request)) as CalendarEvent, response, wanted === 'cut');
    if (id === undefined) return this.#list(events, searchParams, response);
    const found = events.find((event) => event.id === id);
    return found === undefined ? fail(response, 404, 'notFound', 'Not Found') : send(response, 200, found);
  }

  #insert(events: CalendarEvent[], event: CalendarEvent, response: ServerResponse, cut: boolean): void {
    if (!/^[0-9a-v]{5,1024}$/.test(event.id))
      return fail(response, 400, 'invalid', 'Invalid resource id value.');
    if (events.some(({ id }) => id === event.id))
      return fail(response, 409, 'duplicate', 'The requested identifier already exists.');
    if (instantOf(event.end) <= instantOf(event.start))
      return fail(response, 400, 'timeRangeEmpty', 'The specified time range is empty.');
    const made = { status: 'confirmed', ...event };
    events.push(made);
    if (cut) response.destroy();
    else send(response, 200, made);
  }

  #list(events: readonly CalendarEvent[], query: URLSearchParams, response: ServerResponse): void {
    const from = Date.parse(query.get('timeMin') ?? '');
    const to = query.get('timeMax') === null ? Infinity : Date.parse(query.get('timeMax') ?? '');
    if (Number.isNaN(from) || Number.isNaN(to)) return fail(response, 400, 'badRequest', 'Bad Request');
    const most = Math.min(this.page, Number(query.get('maxResults') ?? 250));
    const start = Number(query.get('pageToken') ?? 0);
    const found = events
      .filter((event) => instantOf(event.end) > from && instantOf(event.start) < to)
      .toSorted((one, other) => instantOf(one.start) - instantOf(other.start));
    const items = found.slice(start, start + most);
    const isLast = start + items.length >= found.length;
    send(response, 200, {
      kind: 'calendar#events',
      items,
      ...(!isLast && { nextPageToken: String(start + items.length) }),
    });
  }
}

/** Google reads a day in the calendar's zone; this calendar's is UTC. */
function instantOf({ dateTime, date }: Moment): number {
  return Date.parse(dateTime ?? `${date}T00:00:00Z`);
}

function send(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=UTF-8', ...headers });
  response.end(JSON.stringify(body));
}

function fail(
  response: ServerResponse,
  code: number,
  reason: string,
  message: string,
  headers?: Record<string, string>,
): void {
  const errors = [{ domain: 'calendar', reason, message }];
  send(response, code, { error: { errors, code, message } }, headers);
}
