// A log that says nothing.
import type { Log } from '../../src/ports/telemetry/log.ts';

const ignore = () => {};

export const quietLog: Log = {
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  child: () => quietLog,
};
