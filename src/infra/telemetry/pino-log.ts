// PinoLog: the Log port on pino: JSON lines on stdout, written behind the calls.
import { pino, type DestinationStream, type Logger, type LoggerOptions } from 'pino';
import { afterAnswers } from '../../lib/timers/end-of-turn.ts';
import type { Log, LogFields } from '../../ports/telemetry/log.ts';
import { hideSecrets } from './hide-secrets.ts';
import { KnownSecrets } from './known-secrets.ts';
import { openStdout, PIPE_BYTES, type LogDestination, type Stdout } from './stdout.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** A line as it is written: secrets are hidden in it. */
export interface LogLine {
  readonly level: Exclude<LogLevel, 'silent'>;
  readonly fields: LogFields;
  readonly message: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

export interface PinoLogOptions {
  readonly level: LogLevel;
  /** Stands in for stdout. */
  readonly destination?: LogDestination;
  /** Gets each line that is written, too. */
  readonly alsoTo?: (line: LogLine) => void;
}

/** Lines that are handed on together, in UTF-16 units: three bytes each at most. */
const PIECE_UNITS = PIPE_BYTES / 4;

interface Line extends LogLine {
  readonly logger: Logger;
  /** Of the logger, hidden already. */
  readonly bound: LogFields;
}

/** Lines wait here until the answers of the event loop's turn have left: no call waits while its line is put into words. */
class Backlog {
  readonly secrets = new KnownSecrets();
  /** When the line that is being written was logged, as the member that pino puts into it. */
  time = '';
  readonly #destination: DestinationStream;
  readonly #alsoTo: PinoLogOptions['alsoTo'];
  #writing = Number.NaN;
  #lines: Line[] = [];
  #text = '';
  #written = '';

  constructor(destination: DestinationStream, alsoTo: PinoLogOptions['alsoTo']) {
    this.#destination = destination;
    this.#alsoTo = alsoTo;
  }

  /** Where pino writes each line to. */
  readonly stream: DestinationStream = {
    write: (text) => void (this.#written = text),
  };

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
    for (const line of lines) {
      if (line.at !== this.#writing) this.#setTime(line.at);
      this.#gather(this.#alsoTo === undefined ? this.#lineOf(line) : this.#toBoth(line, this.#alsoTo));
    }
    this.#pass();
  }

  /** Most lines hold no secret: to look at the whole line costs a third of looking at each of its values before. */
  #lineOf({ logger, level, fields, message }: Line): string {
    const { scrubber } = this.secrets;
    const hidden = hideSecrets(fields);
    const plain = this.#write(logger, level, hidden, message);
    if (scrubber.isClean(plain)) return plain;
    return this.#write(logger, level, scrubber.json(hidden), scrubber.text(message));
  }

  #toBoth({ logger, bound, level, fields, message, at }: Line, alsoTo: (line: LogLine) => void): string {
    const { scrubber } = this.secrets;
    const shown = scrubber.json(hideSecrets(fields));
    const text = scrubber.text(message);
    alsoTo({ level, fields: { ...bound, ...shown }, message: text, at });
    return this.#write(logger, level, shown, text);
  }

  /** Pino hands a line to `stream` before it returns. */
  #write(logger: Logger, level: Line['level'], fields: LogFields, message: string): string {
    this.#written = '';
    logger[level](fields, message);
    return this.#written;
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

  /** Many lines share a millisecond. */
  #setTime(at: number): void {
    this.#writing = at;
    this.time = `,"time":"${new Date(at).toISOString()}"`;
  }
}

const MAX_WAITING_LINES = 1000;

/** Those that have lines when the process exits write them: one listener for all of them, which a log that is no longer used leaves. */
const waiting = new Set<Backlog>();
let shared: Stdout | undefined;

/** Stdout, for every log of this process. */
function stdoutOfAll(): LogDestination {
  if (shared !== undefined) return shared;
  // Before pino's own exit hook, which writes what it has by then.
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
 * are hidden by name, at any depth: pino's own redaction knows paths only, at 14 µs a line for one level.
 */
export class PinoLog implements Log {
  readonly #logger: Logger;
  readonly #destination: LogDestination;
  readonly #backlog: Backlog;
  readonly #bound: LogFields;

  private constructor(logger: Logger, destination: LogDestination, backlog: Backlog, bound: LogFields = {}) {
    this.#logger = logger;
    this.#bound = bound;
    this.#destination = destination;
    this.#backlog = backlog;
  }

  static create({ level, destination, alsoTo }: PinoLogOptions): PinoLog {
    const target = destination ?? stdoutOfAll();
    const backlog = new Backlog(target, alsoTo);
    const options: LoggerOptions = {
      level,
      base: null,
      timestamp: () => backlog.time,
      formatters: { level: (label) => ({ level: label }) },
      // Errors are made into fields by hideSecrets.
      serializers: { err: (fields: unknown) => fields },
    };
    return new PinoLog(pino(options, backlog.stream), target, backlog);
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

  child(fields: LogFields): PinoLog {
    const shown = this.#backlog.secrets.scrubber.json(hideSecrets(fields));
    const bound = { ...this.#bound, ...shown };
    return new PinoLog(this.#logger.child(shown), this.#destination, this.#backlog, bound);
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
    if (!this.#logger.isLevelEnabled(level)) return;
    this.#backlog.add({ logger: this.#logger, bound: this.#bound, level, fields, message, at: Date.now() });
  }
}
