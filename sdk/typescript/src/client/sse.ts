// Server-sent events, as the gateway writes them: read from a body in whatever pieces it comes.
export interface ServerEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: string;
}

/** More in one event is no event of the gateway. */
const MAX_EVENT_CHARS = 64 * 1024 * 1024;

export class EventParser {
  #rest = '';
  #event = '';
  #id: string | undefined;
  #data: string[] = [];
  /** What the stream said of when to come again. */
  retryMs: number | undefined;

  /** The events that are whole by now. */
  push(text: string): ServerEvent[] {
    const found: ServerEvent[] = [];
    const lines = (this.#rest + text).split(/\r\n|\n/);
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > MAX_EVENT_CHARS) throw new RangeError('An event of the stream is too long.');
    for (const line of lines) {
      const event = this.#line(line);
      if (event !== undefined) found.push(event);
    }
    return found;
  }

  #line(line: string): ServerEvent | undefined {
    if (line === '') return this.#end();
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.#event = value;
    else if (field === 'data') this.#data.push(value);
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
    else if (field === 'retry' && /^\d{1,6}$/.test(value)) this.retryMs = Number(value);
    return undefined;
  }

  #end(): ServerEvent | undefined {
    const event = { event: this.#event || 'message', id: this.#id, data: this.#data.join('\n') };
    const isEmpty = this.#data.length === 0;
    this.#event = '';
    this.#data = [];
    return isEmpty ? undefined : event;
  }
}
