// StdioBridge: messages of MCP from one client, a line each, to a running gateway, and what it answers back to the client.
// Each request of the client is answered once: with what the gateway said, or with an error that says why there is nothing else.
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import { settledWithin } from '../../lib/timers/settled-within.ts';
import { isEvents, oneLine, readMessage, type BridgeEnds, type Headers } from './bridge-ends.ts';
import { ChangeStream } from './change-stream.ts';
import { askedBy, headersFor, parametersSaid, type AskedHeader } from './message-headers.ts';
import { streamMessages } from './stream-messages.ts';

const INTERNAL_ERROR = -32_603;
const PARSE_ERROR = -32_700;
const SESSION = 'mcp-session-id';

/** One that waits for its answer. */
interface OpenRequest {
  readonly id: JsonValue;
  readonly message: JsonObject;
  readonly ended: AbortController;
}

export class StdioBridge {
  readonly #ends: BridgeEnds;
  readonly #changes: ChangeStream;
  readonly #closed = new AbortController();
  readonly #open = new Set<OpenRequest>();
  readonly #taken = new Set<Promise<void>>();
  /** By tool: parameters that it wants said in headers as well, as the gateway has told. */
  readonly #asked = new Map<string, readonly AskedHeader[]>();
  #isFinishing = false;
  /** Of a 2025-era client, once it is initialized. */
  #session: Headers = {};

  constructor(ends: BridgeEnds) {
    this.#ends = ends;
    this.#changes = new ChangeStream(ends);
  }

  /** Resolves when what the line asks for is done; lines are not waited for by each other. Never rejects. */
  take(line: string): Promise<void> {
    const taken = this.#take(line).finally(() => this.#taken.delete(taken));
    this.#taken.add(taken);
    return taken;
  }

  /** No more lines come: what was asked is answered first, with an error where that takes longer than so long. */
  async finish(ms: number): Promise<void> {
    // A client that is initialized only now hears of no changes: they would keep the program open.
    this.#isFinishing = true;
    this.#changes.stop();
    await settledWithin(this.#ends.clock, ms, Promise.all(this.#taken));
    for (const asked of this.#open)
      this.#refuse(asked, `Standard input has ended, and the gateway had not answered ${ms} ms later: the request was cancelled.`); // oxfmt-ignore
    this.#closed.abort();
    await Promise.all(this.#taken);
  }

  async #take(line: string): Promise<void> {
    if (line.trim() === '') return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      message = undefined;
    }
    if (!isJsonObject(message))
      return this.#fail(null, PARSE_ERROR, 'A line must be one message of JSON-RPC.');
    if (message['method'] === 'notifications/cancelled') return this.#cancel(message);
    const id = typeof message['method'] === 'string' ? message['id'] : undefined;
    if (id === undefined) return this.#notify(line, message);
    await this.#ask(line, { id, message, ended: new AbortController() });
  }

  async #ask(line: string, asked: OpenRequest): Promise<void> {
    const { message, ended } = asked;
    this.#open.add(asked);
    try {
      const signal = AbortSignal.any([ended.signal, this.#closed.signal]);
      let { answer, body } = await this.#request(line, message, signal);
      const more = body === undefined ? undefined : askedBy(readMessage(body) ?? {});
      if (more !== undefined) {
        this.#asked.set(toolOf(message), more);
        ({ answer, body } = await this.#request(line, message, signal));
      }
      if (body === undefined) await this.#relay(answer, asked);
      else this.#answer(body, answer, asked);
      const { statusCode = 0 } = answer;
      this.#refuse(asked, `The gateway ended its answer (HTTP ${statusCode}) without a message of MCP for this request.`); // oxfmt-ignore
    } catch (error) {
      this.#refuse(asked, error instanceof Error ? error.message : String(error));
    }
  }

  /** `body` undefined: it comes as a stream of events. */
  async #request(line: string, message: JsonObject, signal: AbortSignal) {
    const asked = this.#asked.get(toolOf(message)) ?? [];
    const headers = { ...this.#session, ...headersFor(message), ...parametersSaid(asked, message) };
    const answer = await this.#ends.request(line, headers, signal);
    return { answer, body: isEvents(answer) ? undefined : await text(answer) };
  }

  #answer(body: string, response: IncomingMessage, asked: OpenRequest): void {
    const answer = readMessage(body);
    // Of a request that could not be read, the gateway knows no id.
    const isNobodys = answer?.['id'] === null;
    if (answer === undefined || !(isNobodys || isAnswerTo(answer, asked.id))) return;
    this.#settle(asked, answer, response);
    this.#ends.write(isNobodys ? JSON.stringify({ ...answer, id: asked.id }) : oneLine(body));
  }

  async #relay(stream: IncomingMessage, asked: OpenRequest): Promise<void> {
    for await (const each of streamMessages(stream)) {
      const message = readMessage(each);
      if (message === undefined || !this.#open.has(asked)) continue;
      if (isAnswerTo(message, asked.id)) this.#settle(asked, message, stream);
      this.#ends.write(oneLine(each));
    }
  }

  #settle(asked: OpenRequest, answer: JsonObject, response: IncomingMessage): void {
    this.#open.delete(asked);
    if (asked.message['method'] === 'initialize') this.#begin(answer, response);
  }

  /** Nothing where it is answered already, or waited for no more. */
  #refuse(asked: OpenRequest, why: string): void {
    if (this.#open.delete(asked)) this.#fail(asked.id, INTERNAL_ERROR, why);
  }

  /** The session of a 2025-era client. */
  #begin({ result }: JsonObject, { headers }: IncomingMessage): void {
    const version = isJsonObject(result) ? result['protocolVersion'] : undefined;
    if (typeof version !== 'string') return;
    const session = headers[SESSION];
    this.#session = {
      'mcp-protocol-version': version,
      ...(typeof session === 'string' && { [SESSION]: session }),
    };
    if (!this.#isFinishing) this.#changes.start(this.#session);
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
    for (const asked of this.#open) {
      if (asked.id !== id) continue;
      this.#open.delete(asked);
      asked.ended.abort();
    }
  }

  #fail(id: JsonValue, code: number, message: string): void {
    this.#ends.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }));
  }
}

/** Of a message that calls none: nothing. */
function toolOf({ method, params }: JsonObject): string {
  const name = method === 'tools/call' && isJsonObject(params) ? params['name'] : undefined;
  return typeof name === 'string' ? name : '';
}

function isAnswerTo(message: JsonObject, id: JsonValue): boolean {
  return message['method'] === undefined && message['id'] === id;
}
