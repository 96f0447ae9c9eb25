// QuietLog: for parts that take a log. A command tells what it has to tell in its own output.
import type { Log } from '../ports/telemetry/log.ts';

export const QUIET_LOG: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => QUIET_LOG,
};
