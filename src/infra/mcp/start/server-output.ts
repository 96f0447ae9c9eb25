// ServerOutput: what a server prints besides the protocol, as log lines: so much of it in a minute, without secrets.
import { StringDecoder } from 'node:string_decoder';
import type { Readable } from 'node:stream';
import type { SecretScrubber } from '../../../lib/secrets/scrub-secrets.ts';
import { settledWithin } from '../../../lib/timers/settled-within.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/telemetry/log.ts';

const WINDOW_MS = 60_000;
const MAX_WINDOW_BYTES = 64 * 1024;
const MAX_LINE_CHARS = 2_000;
/** Of what is told again where the server did not start. */
const KEPT_LINES = 20;
const MAX_KEPT_CHARS = 400;
const LAST_WORDS_MS = 1_000;

export class ServerOutput {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #scrubber: SecretScrubber;
  /** Finds a secret wherever the pieces end, and before anything is cut off. */
  #scrubbed: ReturnType<SecretScrubber['stream']>;
  readonly #decoder = new StringDecoder('utf8');
  #partial = '';
  #windowStart: number;
  #windowBytes = 0;
  #lastLines: string[] = [];
  #ended: Promise<unknown> = Promise.resolve();

  constructor(log: Log, clock: Clock, scrubber: SecretScrubber) {
    this.#log = log;
    this.#clock = clock;
    this.#scrubber = scrubber;
    this.#scrubbed = scrubber.stream();
    this.#windowStart = clock.now();
  }

  /**
   * Of a server whose process is gone: mostly what tells an operator why; the newest last. What it printed may come after its end;
   * a process that it left may print on, which is not waited for.
   */
  async lastLines(): Promise<readonly string[]> {
    await settledWithin(this.#clock, LAST_WORDS_MS, this.#ended);
    return this.#lastLines;
  }

  /** Its stderr. */
  read(stream: Readable): void {
    stream.on('data', (chunk: Buffer) => this.#push(chunk));
    // A server that dies may not end its last line.
    stream.once('end', () => this.#line(this.#partial + this.#scrubbed.end()));
    this.#ended = new Promise((resolve) => stream.once('end', resolve).once('close', resolve));
  }

  /** A line of its stdout that is no message of the protocol. */
  stray(line: Buffer): void {
    this.#keep(this.#scrubber.text(line.toString('utf8')));
  }

  #push(chunk: Buffer): void {
    const now = this.#clock.now();
    if (now - this.#windowStart >= WINDOW_MS) {
      this.#windowStart = now;
      this.#windowBytes = 0;
    }
    const left = MAX_WINDOW_BYTES - this.#windowBytes;
    this.#windowBytes += chunk.length;
    if (left <= 0) return;
    const text = this.#scrubbed.push(this.#decoder.write(chunk.subarray(0, left)));
    const lines = (this.#partial + text).split('\n');
    this.#partial = (lines.pop() ?? '').slice(0, MAX_LINE_CHARS);
    for (const line of lines) this.#line(line);
    if (chunk.length > left) {
      this.#partial = '';
      // What it holds may be the first half of a secret, whose other half is left out.
      this.#scrubbed = this.#scrubber.stream();
      this.#log.warn(
        { bytes: MAX_WINDOW_BYTES },
        'an MCP server prints too much: the rest of this minute is left out',
      );
    }
  }

  #line(line: string): void {
    const output = line.trimEnd().slice(0, MAX_LINE_CHARS);
    if (output === '') return;
    this.#keep(output);
    this.#log.info({ output }, 'an MCP server printed');
  }

  #keep(line: string): void {
    if (line.trim() === '') return;
    this.#lastLines.push(line.slice(0, MAX_KEPT_CHARS));
    if (this.#lastLines.length > KEPT_LINES) this.#lastLines.shift();
  }
}
