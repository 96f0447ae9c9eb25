// StdioTransport: a server as a child process, spoken to over its stdin and stdout, one line of JSON for each message.
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { withExactNumbers } from '../../../lib/json/exact-json.ts';
import { tooMuchIn } from '../../../lib/json/json-bounds.ts';
import type { ChildProcess } from '../../../ports/egress/process-spawner.ts';
import type { Clock } from '../../../ports/clock.ts';
import { connectionLost, tooDeep, tooLarge } from '../failures.ts';
import { JsonDepth, MAX_DEPTH } from './json-depth.ts';
import { isLargeMessage, readLargeMessage } from './large-message.ts';
import { LineFrames } from './line-frames.ts';
import { messageAtEnd } from './message-at-end.ts';
import { isMessage } from './message-form.ts';

/** A line may be longer than its limit by so much before it is taken to have no end. */
const ENDLESS_FACTOR = 16;
/** What a server may leave unread of what it is sent. */
const MAX_UNREAD_BYTES = 16 << 20;
/** Messages of one turn are written together, up to about so many characters. */
const MAX_TOGETHER_CHARS = 64 * 1024;
/** For ending by itself once its stdin is closed, as the protocol asks for. */
const GRACE_MS = 500;

export interface StdioOptions {
  readonly spawn: () => Promise<ChildProcess>;
  readonly clock: Clock;
  readonly maxMessageBytes: number;
  /** A line that is no message, or that had something before its message. */
  readonly onGarbage: (line: Buffer) => void;
  /** An answer that cannot be taken: to this request, if it could be told. */
  readonly onRefused: (id: string | number | undefined, failure: ToolFailure) => void;
  /** No use in listening any longer. */
  readonly onHopeless: (failure: ToolFailure) => void;
}

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: StdioOptions;
  #child: ChildProcess | undefined;
  #frames: LineFrames | undefined;
  #closed = false;
  /** Settled when every large message that has come was read. */
  #reading: Promise<unknown> = Promise.resolve();
  /** What was sent in this turn and is not written yet. */
  #unwritten = '';

  constructor(options: StdioOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const child = await this.#options.spawn();
    this.#child = child;
    const frames = this.#newFrames();
    this.#frames = frames;
    child.stdout.on('data', (chunk: Buffer) => {
      if (!this.#closed) frames.push(chunk);
    });
    // An answer that is still being read came before the end.
    void child.exited.then(() => this.#reading).then(() => this.#gone());
    if (this.#closed) child.kill();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (this.#closed || stdin === undefined || !stdin.writable) throw connectionLost();
    if (stdin.writableLength > MAX_UNREAD_BYTES) {
      throw connectionLost(new Error('the server does not read what it is sent'));
    }
    if ('method' in message && 'id' in message) this.#frames?.asked();
    // A write costs most of a call, as it wakes the server up: one for all that is sent in a turn of the event loop.
    if (this.#unwritten === '') setImmediate(() => this.#write());
    this.#unwritten += `${JSON.stringify(message)}\n`;
    if (this.#unwritten.length > MAX_TOGETHER_CHARS) this.#write();
  }

  /** Resolves when every process of the server is gone. */
  async close(): Promise<void> {
    const child = this.#child;
    this.#closed = true;
    if (child === undefined) return this.#gone();
    this.#write();
    child.stdin?.end();
    const stop = this.#options.clock.after(GRACE_MS, () => child.kill());
    await child.exited;
    stop();
    this.#gone();
  }

  #write(): void {
    const text = this.#unwritten;
    this.#unwritten = '';
    if (text !== '') this.#child?.stdin?.write(text);
  }

  #gone(): void {
    this.#closed = true;
    const { onclose } = this;
    delete this.onclose;
    onclose?.();
  }

  #newFrames(): LineFrames {
    const { maxMessageBytes, onRefused, onHopeless } = this.#options;
    return new LineFrames(maxMessageBytes, maxMessageBytes * ENDLESS_FACTOR, {
      frame: (line) => this.#frame(line),
      tooLong: (head, tail) => {
        if (!this.#found(tail)) onRefused(answeredId(head, tail), tooLarge(maxMessageBytes));
      },
      endless: () => onHopeless(tooLarge(maxMessageBytes)),
    });
  }

  #frame(line: Buffer): void {
    if (this.#closed || line.length === 0) return;
    if (isLargeMessage(line)) {
      this.#reading = Promise.all([this.#reading, this.#largeFrame(line)]);
      return;
    }
    if (!new JsonDepth().pushAll(line)) {
      return this.#options.onRefused(answeredId(line, line), tooDeep(MAX_DEPTH));
    }
    this.#take(parse(line), line);
  }

  /** In slices; nothing more is taken from the server meanwhile. */
  async #largeFrame(line: Buffer): Promise<void> {
    const stdout = this.#child?.stdout;
    stdout?.pause();
    try {
      const value = await readLargeMessage(line);
      if (!this.#closed) this.#take(isMessage(value) ? value : undefined, line);
    } catch (error) {
      if (!this.#closed) this.#options.onRefused(answeredId(line, line), error as ToolFailure);
    } finally {
      stdout?.resume();
    }
  }

  #take(message: JSONRPCMessage | undefined, line: Buffer): void {
    if (message !== undefined) this.onmessage?.(message);
    else if (!this.#found(line)) this.#options.onGarbage(line);
  }

  /** An answer behind junk that has no line end: the junk was another call's, or nobody's. */
  #found(line: Buffer): boolean {
    const message = messageAtEnd(line, (text) => (new JsonDepth().pushAll(text) ? parse(text) : undefined));
    if (message === undefined) return false;
    this.#options.onGarbage(line);
    this.onmessage?.(message);
    return true;
  }
}

function parse(line: Buffer): JSONRPCMessage | undefined {
  let value: unknown;
  try {
    const text = line.toString('utf8');
    if (isLargeMessage(line) && tooMuchIn(text, MAX_DEPTH) !== undefined) return undefined;
    value = JSON.parse(withExactNumbers(text));
  } catch {
    return undefined;
  }
  return isMessage(value) ? value : undefined;
}

/** The id of an answer, from its beginning or its end: where servers write it. Undefined: it is no answer, or cannot be told. */
function answeredId(head: Buffer, tail: Buffer): string | number | undefined {
  const start = head.subarray(0, 512).toString('latin1');
  const end = tail.subarray(-512).toString('latin1');
  const found =
    /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15}|"[\w:.-]{1,100}")\s*,/.exec(start) ??
    /,\s*"id"\s*:\s*(\d{1,15}|"[\w:.-]{1,100}")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(end);
  return found?.[1] === undefined ? undefined : (JSON.parse(found[1]) as string | number);
}
