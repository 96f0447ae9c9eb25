// Runs the primary of a gateway of several processes: signals reach all of them, and its end is theirs.
import { checkPorts } from '../../../infra/http/free-ports.ts';
import { SystemClock } from '../../../infra/clock/system-clock.ts';
import { JsonLog } from '../../../infra/telemetry/json-log.ts';
import { PrometheusMetrics } from '../../../infra/telemetry/prometheus-metrics.ts';
import type { Settings } from '../../../settings/settings-schema.ts';
import { onNpmGone } from '../npm-parent.ts';
import { Primary } from './primary.ts';
import { warnOfUnreadJournals } from './unread-journals.ts';

/** After the drain: what the processes themselves take at most to end, and a little more. */
const END_WITHIN_MS = 6_000;

/** Rejects with Error where the ports cannot be had; the process ends where it does not start otherwise. */
export async function runPrimary(settings: Settings, count: number): Promise<void> {
  await checkPorts(settings);
  const log = JsonLog.create({ level: settings.log.level });
  warnOfUnreadJournals(settings, count, log);
  const metrics = new PrometheusMetrics({}, { process: 'primary' });
  metrics.collectProcessMetrics();
  const clock = new SystemClock();
  const primary = new Primary({ settings, count, clock, log, metrics });
  const end = () => void stop(primary, log, settings.shutdown.drain_ms);
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      if (stopping) process.exit(1);
      end();
    });
  onNpmGone({ env: process.env, timers: clock, parent: () => process.ppid }, end);
  process.on('SIGHUP', () => primary.reload());
  process.once('exit', () => primary.kill());
  if (!(await primary.start())) process.exit(1);
}

let stopping = false;

async function stop(primary: Primary, log: JsonLog, drainMs: number): Promise<void> {
  if (stopping) return;
  stopping = true;
  setTimeout(() => process.exit(1), drainMs + END_WITHIN_MS).unref();
  const inGoodOrder = await primary.stop();
  await log.flush();
  process.exit(inGoodOrder ? 0 : 1);
}
