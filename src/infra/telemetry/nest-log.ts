// NestLog: what Nest and the doors say by Nest's logger, as lines of our own log.
import type { LoggerService } from '@nestjs/common';
import type { Log } from '../../ports/telemetry/log.ts';

export class NestLog implements LoggerService {
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log.child({ source: 'nest' });
  }

  /** Nest's own progress at boot: of interest to its developers. */
  log(message: unknown): void {
    this.#log.debug({}, String(message));
  }

  warn(message: unknown): void {
    this.#log.warn({}, String(message));
  }

  error(message: unknown): void {
    this.#log.error({ err: message }, message instanceof Error ? message.message : String(message));
  }
}
