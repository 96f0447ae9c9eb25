// JsonLog: the Log port as JSON lines on stdout, written behind the calls.
import { afterAnswers } from '../../lib/timers/end-of-turn.ts';
import type { Log, LogFields } from '../../ports/telemetry/log.ts';
import { hideSecrets } from './hide-secrets.ts';
import { KnownSecrets } from './known-secrets.ts';
import { LineText } from './line-text.ts';
import { openStdout, PIPE_BYTES, type LogDestination, type Stdout } from './stdout.ts';

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LEVELS)[number];

/** A line as it is written: secrets are hidden in it. */
export interface LogLine {
  readonly level: Exclude<LogLevel, 'silent'>;
  readonly fields: LogFields;
  readonly message: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

export interface JsonLogOptions {
  readonly level: LogLevel;
  /** Stands in for stdout. */
  readonly destination?: LogDestination;
  /** Gets each line that is written, too. */
  readonly alsoTo?: (line: LogLine) => void;
}

/** Lines that are handed on together, in UTF-16 units: three bytes each at most. */
const PIECE_UNITS = PIPE_BYTES / 4;

interface Line extends LogLine {
  readonly of: Origin;
}

/** What each line of a log repeats, hidden already. */
interface Origin {
  readonly bound: LogFields;
  readonly text: LineText;
}

/** Lines wait here until the answers of the event loop's turn have left: no call waits while its line is put into words. */
class Backlog {
  readonly secrets = new KnownSecrets();
  readonly #destination: LogDestination;
  readonly #alsoTo: JsonLogOptions['alsoTo'];
  #lines: Line[] = [];
  #text = '';

  constructor(destination: LogDestination, alsoTo: JsonLogOptions['alsoTo']) {
    this.#destination = destination;
    this.#alsoTo = alsoTo;
  }

  add(line: Line): void {
    if (this.#lines.length === 0) {
      waiting.add(this);
      afterAnswers(() => this.drain());
    }
    this.#lines.push(line);
    if (this.#lines.length >= MAX_WAITING_LINES) this.drain();
  }

  drain(): void {
    const lines = this.#lines;
    this.#lines = [];
    waiting.delete(this);
    for (const line of lines)
      this.#gather(this.#alsoTo === undefined ? this.#lineOf(line) : this.#toBoth(line, this.#alsoTo));
    this.#pass();
  }

  /** Most lines hold no secret: to look at the whole line costs a third of looking at each of its values before. */
  #lineOf({ of: { text }, level, at, fields, message }: Line): string {
    const { scrubber } = this.secrets;
    const hidden = hideSecrets(fields);
    const plain = text.line(level, at, hidden, message);
    if (scrubber.isClean(plain)) return plain;
    return text.line(level, at, scrubber.json(hidden), scrubber.text(message));
  }

  #toBoth({ of, level, at, fields, message }: Line, alsoTo: (line: LogLine) => void): string {
    const { scrubber } = this.secrets;
    const shown = scrubber.json(hideSecrets(fields));
    const told = scrubber.text(message);
    alsoTo({ level, fields: { ...of.bound, ...shown }, message: told, at });
    return of.text.line(level, at, shown, told);
  }

  #gather(line: string): void {
    // What is larger than a pipe holds would be lost in part when the process ends.
    if (this.#text.length + line.length > PIECE_UNITS) this.#pass();
    this.#text += line;
  }

  #pass(): void {
    const text = this.#text;
    this.#text = '';
    if (text !== '') this.#destination.write(text);
  }
}

const MAX_WAITING_LINES = 1000;

/** Those that have lines when the process exits write them: one listener for all of them, which a log that is no longer used leaves. */
const waiting = new Set<Backlog>();
let shared: Stdout | undefined;

/** Stdout, for every log of this process. */
function stdoutOfAll(): LogDestination {
  if (shared !== undefined) return shared;
  // Before the destination's own exit hook, which writes what it has by then.
  process.prependOnceListener('exit', () => {
    shared?.writeAtOnce();
    for (const backlog of waiting) backlog.drain();
  });
  shared = openStdout();
  return shared;
}

/**
 * Lines are in memory for up to 100 ms. They are written at once by `flush`, when the process exits by itself,
 * by process.exit or by an uncaught error. A process killed by a signal that nobody handles loses them. Secrets
 * are hidden by name, at any depth.
 */
export class JsonLog implements Log {
  readonly #least: number;
  readonly #destination: LogDestination;
  readonly #backlog: Backlog;
  readonly #origin: Origin;

  private constructor(least: number, destination: LogDestination, backlog: Backlog, bound: LogFields) {
    this.#least = least;
    this.#destination = destination;
    this.#backlog = backlog;
    this.#origin = { bound, text: new LineText(bound) };
  }

  static create({ level, destination, alsoTo }: JsonLogOptions): JsonLog {
    const target = destination ?? stdoutOfAll();
    return new JsonLog(LEVELS.indexOf(level), target, new Backlog(target, alsoTo), {});
  }

  debug(fields: LogFields, message: string): void {
    this.#add('debug', fields, message);
  }

  info(fields: LogFields, message: string): void {
    this.#add('info', fields, message);
  }

  warn(fields: LogFields, message: string): void {
    this.#add('warn', fields, message);
  }

  error(fields: LogFields, message: string): void {
    this.#add('error', fields, message);
  }

  child(fields: LogFields): JsonLog {
    const shown = this.#backlog.secrets.scrubber.json(hideSecrets(fields));
    const bound = { ...this.#origin.bound, ...shown };
    return new JsonLog(this.#least, this.#destination, this.#backlog, bound);
  }

  hide(secrets: readonly string[]): void {
    this.#backlog.secrets.learn(secrets);
  }

  /** Resolves when what was logged before has been written, or cannot be: a log is no reason to fail. */
  flush(): Promise<void> {
    this.#backlog.drain();
    return new Promise((resolve) => this.#destination.flush(() => resolve()));
  }

  #add(level: Line['level'], fields: LogFields, message: string): void {
    if (LEVELS.indexOf(level) < this.#least) return;
    this.#backlog.add({ of: this.#origin, level, fields, message, at: Date.now() });
  }
}
