// The running process: settings, service, signals, exit codes. 0 = stopped as asked, 1 = could not start or had to be cut off.
import { LoadError } from '../../registry/reload/registry-sync.ts';
import type { Service } from '../service/serve.ts';
import { onNpmGone } from './npm-parent.ts';
import { PROCESS_VARIABLE, processIndexOf, settingsOf } from './many/process-index.ts';
import { processCountOf } from './many/process-count.ts';
import { Sibling } from './many/sibling.ts';
import { warnOfUnreadJournals } from './many/unread-journals.ts';
import { loadSettings } from '../../settings/load-settings.ts';
import { SettingsError } from '../../settings/problems/settings-error.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import { describeProblem } from '../../lib/text/describe-problem.ts';

/** After the drain's own limit: closing sockets and workers must not take longer than this. */
const CLOSE_LIMIT_MS = 5_000;
/** From ready to the one collection of what booting left: late enough for the loading to be over. */
const SETTLE_MS = 500;

let beforeCollecting: () => Promise<void> = async () => undefined;

/** What is done once after a start, with all that it took still in memory. Must not reject. */
export function onceStarted(task: () => Promise<void>): void {
  beforeCollecting = task;
}

/** Timers of the gateway keep no process alive, and a start or a stop may wait for nothing else: `process.exit` alone ends it. */
setInterval(() => undefined, 2 ** 30);

async function main(): Promise<void> {
  const index = processIndexOf(process.env);
  delete process.env[PROCESS_VARIABLE];
  const read = (text?: string) => loadSettings(process.env, process.cwd(), text);
  const settings = read();
  if (index !== undefined)
    return serveBeside(new Sibling(index), settingsOf(settings, index), (text) =>
      settingsOf(read(text), index),
    );
  const { count, why } = processCountOf(settings);
  if (count === 1) return serveAlone(settings, read, why);
  const { runPrimary } = await import('./many/run-primary.ts');
  return runPrimary(settings, count);
}

async function serveAlone(
  settings: Settings,
  read: (text?: string) => Settings,
  why: string | undefined,
): Promise<void> {
  const service = await started(settings, read);
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      if (stopping) process.exit(1);
      void stop(service, settings.shutdown.drain_ms);
    });
  process.on('SIGHUP', () => void reload(service));
  const { log, ports } = service.infra;
  const sight = { env: process.env, timers: ports.clock, parent: () => process.ppid };
  onNpmGone(sight, () => void stop(service, settings.shutdown.drain_ms));
  warnOfUnreadJournals(settings, 1, log);
  if (why !== undefined) log.info({ why }, 'processes is auto, and one process serves');
  log.info(
    {
      role: settings.role,
      ...(service.restUrl !== '' && { rest: service.restUrl, grpc: service.grpcAddress }),
      metrics: service.metricsUrl,
      pipeline: orderOf(service),
    },
    'ready',
  );
}

/** One of several. A terminal and an init system may signal all of them as well as the primary, which tells them itself. */
async function serveBeside(
  sibling: Sibling,
  settings: Settings,
  read: (text?: string) => Settings,
): Promise<void> {
  process.on('SIGINT', () => undefined);
  const service = await started(settings, read, sibling);
  const end = () => void stop(service, settings.shutdown.drain_ms);
  process.on('SIGTERM', end);
  process.on('SIGHUP', () => undefined);
  sibling.obey({ stop: end, reload: () => void reload(service) });
  sibling.serves(orderOf(service));
  if (!process.connected) end();
}

async function started(
  settings: Settings,
  read: (text?: string) => Settings,
  sibling?: Sibling,
): Promise<Service> {
  const { serve } = await import('../service/serve.ts');
  const service = await serve(settings, (line) => process.stderr.write(line), read, sibling);
  setTimeout(() => void beforeCollecting().then(() => collectBootGarbage(service)), SETTLE_MS).unref();
  return service;
}

async function reload(service: Service): Promise<void> {
  const { keys, watched } = service.infra;
  await Promise.all([keys.check(), watched?.check()]);
  await service.gateway.sync.reload();
}

/**
 * Booting grows the heap by a quarter more than an idle gateway needs, and V8 alone would not give it back. Only
 * where node was started with --expose-gc, as `npm start` does; a gateway with calls in flight is left alone.
 */
function collectBootGarbage({ gateway }: Service): void {
  if (gateway.executor.inFlight === 0)
    globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

let stopping = false;

async function stop(service: Service, drainMs: number): Promise<void> {
  if (stopping) return;
  stopping = true;
  setTimeout(() => process.exit(1), drainMs + CLOSE_LIMIT_MS).unref();
  await service.stop();
  process.exit(0);
}

function orderOf({ gateway }: Service) {
  const names = (steps: readonly { name: string }[]) => steps.map(({ name }) => name);
  return { request: names(gateway.pipeline.request), tool: names(gateway.pipeline.tool) };
}

main().catch(async (error: unknown) => {
  process.stderr.write(`${startFailure(await withAllFaults(error))}\n`);
  process.exit(1);
});

/** Plugins are loaded only now: whoever mends the file is told all of it at once. */
async function withAllFaults(error: unknown): Promise<unknown> {
  if (!(error instanceof SettingsError)) return error;
  const { withSectionFaults } = await import('../gateway/check-sections.ts');
  return withSectionFaults(error);
}

function startFailure(error: unknown): string {
  if (error instanceof LoadError)
    return [`unified-tool-executor: ${error.message}`, ...error.problems.map(describeProblem)].join('\n');
  if (error instanceof SettingsError)
    return `unified-tool-executor: the settings are not valid\n${error.message}`;
  return `unified-tool-executor could not start: ${error instanceof Error ? error.message : String(error)}`;
}
