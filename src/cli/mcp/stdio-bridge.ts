// StdioBridge: messages of MCP from one client, a line each, to a running gateway, and what it answers back to the client.
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import { headersFor } from './message-headers.ts';

export type Headers = { readonly [name: string]: string };

export interface BridgeEnds {
  /** To the gateway; `body` undefined: GET. Rejects where it cannot be reached. */
  request(body: string | undefined, headers: Headers, signal: AbortSignal): Promise<IncomingMessage>;
  /** To the client: one message, without its line end. */
  write(message: string): void;
}

const INTERNAL_ERROR = -32_603;
const PARSE_ERROR = -32_700;
const SESSION = 'mcp-session-id';
/** Before a stream that has ended is opened again. */
const REOPEN_AFTER_MS = 1_000;

export class StdioBridge {
  readonly #ends: BridgeEnds;
  readonly #closed = new AbortController();
  /** By the id of the request, as JSON. */
  readonly #open = new Map<string, AbortController>();
  /** Of a 2025-era client, once it is initialized. */
  #session: Headers = {};

  constructor(ends: BridgeEnds) {
    this.#ends = ends;
  }

  /** Resolves when what the line asks for is done; lines are not waited for by each other. Never rejects. */
  async take(line: string): Promise<void> {
    if (line.trim() === '') return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      this.#fail(null, PARSE_ERROR, 'A line must be one message of JSON-RPC.');
      return;
    }
    if (!isJsonObject(message))
      return this.#fail(null, PARSE_ERROR, 'A line must be one message of JSON-RPC.');
    if (message['method'] === 'notifications/cancelled') return this.#cancel(message);
    const id = typeof message['method'] === 'string' ? message['id'] : undefined;
    if (id === undefined) return this.#notify(line, message);
    await this.#ask(line, message, id);
  }

  close(): void {
    this.#closed.abort();
  }

  async #ask(line: string, message: JsonObject, id: JsonValue): Promise<void> {
    const ended = new AbortController();
    const key = JSON.stringify(id);
    this.#open.set(key, ended);
    try {
      const signal = AbortSignal.any([ended.signal, this.#closed.signal]);
      const answer = await this.#ends.request(line, { ...this.#session, ...headersFor(message) }, signal);
      if (isEvents(answer)) await this.#relay(answer);
      else this.#answer(await text(answer), answer, message, id);
    } catch (error) {
      // A client that has cancelled waits for nothing.
      if (!ended.signal.aborted && !this.#closed.signal.aborted)
        this.#fail(id, INTERNAL_ERROR, error instanceof Error ? error.message : String(error));
    } finally {
      if (this.#open.get(key) === ended) this.#open.delete(key);
    }
  }

  #answer(body: string, { headers }: IncomingMessage, { method, params }: JsonObject, id: JsonValue): void {
    const answer = readAnswer(body);
    if (answer === undefined) {
      if (body !== '') this.#fail(id, INTERNAL_ERROR, 'The gateway answered with no message of MCP.');
      return;
    }
    if (method === 'initialize') this.#begin(answer, headers[SESSION], params);
    // Of a request that could not be read, the gateway knows no id.
    this.#ends.write(answer['id'] === null ? JSON.stringify({ ...answer, id }) : oneLine(body));
  }

  #begin(
    { result }: JsonObject,
    session: string | string[] | undefined,
    params: JsonValue | undefined,
  ): void {
    const version = isJsonObject(result) ? result['protocolVersion'] : undefined;
    if (typeof version !== 'string') return;
    this.#session = {
      'mcp-protocol-version': version,
      ...(typeof session === 'string' && { [SESSION]: session }),
    };
    if (isJsonObject(params)) void this.#listen();
  }

  /** What a 2025-era client is told beside its requests, for as long as it is there. */
  async #listen(): Promise<void> {
    const { signal } = this.#closed;
    while (!signal.aborted) {
      try {
        const stream = await this.#ends.request(undefined, this.#session, signal);
        if (isEvents(stream)) await this.#relay(stream);
        else stream.resume();
        await pause(REOPEN_AFTER_MS, undefined, { signal, ref: false });
      } catch {
        await pause(REOPEN_AFTER_MS, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
  }

  async #relay(stream: IncomingMessage): Promise<void> {
    const lines = createInterface({ input: stream, crlfDelay: Infinity });
    lines.on('line', (line) => {
      if (line.startsWith('data: ')) this.#ends.write(line.slice('data: '.length));
    });
    let lost: Error | undefined;
    stream.once('error', (error) => {
      lost = error;
      lines.close();
    });
    await once(lines, 'close');
    if (lost !== undefined) throw lost;
  }

  async #notify(line: string, message: JsonObject): Promise<void> {
    try {
      const headers = { ...this.#session, ...headersFor(message) };
      (await this.#ends.request(line, headers, this.#closed.signal)).resume();
    } catch {
      // Nobody waits for an answer to it; the next request tells what is wrong.
    }
  }

  /** A request that is closed is cancelled at the gateway. */
  #cancel({ params }: JsonObject): void {
    const id = isJsonObject(params) ? params['requestId'] : undefined;
    if (id !== undefined) this.#open.get(JSON.stringify(id))?.abort();
  }

  #fail(id: JsonValue, code: number, message: string): void {
    this.#ends.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }));
  }
}

function readAnswer(body: string): JsonObject | undefined {
  try {
    const answer: unknown = JSON.parse(body);
    return isJsonObject(answer) && answer['jsonrpc'] === '2.0' ? answer : undefined;
  } catch {
    return undefined;
  }
}

function isEvents({ headers }: IncomingMessage): boolean {
  return headers['content-type']?.startsWith('text/event-stream') === true;
}

/** JSON text: a line end in it can stand between its parts alone. */
function oneLine(json: string): string {
  return json.replaceAll(/[\r\n]+/g, ' ');
}
