// Serves the gateway in its role: loads the tools, opens the doors and the metrics port, and stops them without losing a call.
import { createAsyncCalls, type AsyncService } from '../background/create-async-calls.ts';
import { createGateway, type Gateway } from '../gateway/create-gateway.ts';
import { createInfra, type Infra } from '../adapters/create-ports.ts';
import { notTried } from '../../ports/egress/sandbox.ts';
import { checkPorts } from '../../infra/http/free-ports.ts';
import { startDemoUpstream, type DemoUpstream } from '../demo/demo-upstream.ts';
import { answerWhileRecovering, bootDoors } from './boot-doors.ts';
import type { Doors } from './open-doors.ts';
import { openMetrics, type MetricsDoor } from './open-metrics.ts';
import { degradedTools, ServiceState } from './service-state.ts';
import { addressesOf, type Addresses } from './addresses.ts';
import type { SettingsListener } from '../../infra/settings-file/watched-settings.ts';
import type { Sibling } from '../process/many/sibling.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Settings } from '../../settings/settings-schema.ts';

/** Where it is one of several processes, the primary holds the ports, and the addresses are empty. */
export interface Service extends Addresses {
  readonly gateway: Gateway;
  readonly infra: Infra;
  /** Takes no new calls, lets those in flight finish (at most drain_ms), ends everything. Safe to call twice. */
  stop(): Promise<void>;
}

/** For the audit records of calls that took all of drain_ms. */
const LEAST_SHIP_MS = 1_000;

/**
 * `reread` gives the settings as a text of gateway.yaml says, for keys, loaders and toolsets that come and go. `sibling`: connections come from
 * the primary, which holds the ports. Throws LoadError, or Error with what kept it from starting; nothing is left running then.
 */
export async function serve(
  settings: Settings,
  announce: (line: string) => void,
  reread?: (text: string | undefined) => Settings,
  sibling?: Sibling,
): Promise<Service> {
  const undo: (() => Promise<unknown>)[] = [];
  try {
    if (sibling === undefined) await checkPorts(settings);
    return await start(settings, announce, reread, sibling, undo);
  } catch (error) {
    for (const step of undo.toReversed()) await step().catch(() => undefined);
    throw error;
  }
}

async function start(
  settings: Settings,
  announce: (line: string) => void,
  reread: ((text: string | undefined) => Settings) | undefined,
  sibling: Sibling | undefined,
  undo: (() => Promise<unknown>)[],
): Promise<Service> {
  const demo = settings.demo.upstream ? await startDemoUpstream() : undefined;
  undo.push(async () => demo?.close());
  const infra = await createInfra(settings, announce, reread);
  undo.push(() => infra.close());
  const gateway = await gatewayOf(settings, infra);
  undo.push(() => gateway.close());
  const asyncCalls = createAsyncCalls(settings, infra, gateway);
  undo.push(() => asyncCalls.close());
  const state = stateOf(settings, infra, gateway, sibling);
  const probed = probeSandbox(infra, state, announce);
  // The tools and the database get ready while Nest is loaded: none needs the others before the first call.
  const tools = gateway.sync.start();
  const underWay = Promise.race([tools, Promise.all([gateway.sync.building, probed])]);
  const whileRecovering = answerWhileRecovering(settings, infra);
  undo.push(() => whileRecovering.end());
  const [doors] = await Promise.all([
    bootDoors({ settings, infra, gateway, asyncCalls, readiness: state, sibling }, underWay),
    tools.then(() => gateway.toolsets.settled()),
    openDatabase(infra),
  ]);
  undo.push(() => doors.close());
  gateway.agreement.start();
  const metrics = await openMetrics(settings, infra, state, sibling);
  undo.push(() => metrics.close());
  const ports = await doors.listen(await whileRecovering.end());
  asyncCalls.start();
  infra.watched?.listen(toolsOf(gateway));
  infra.databaseWatch.start();
  state.ready();
  doors.setServing(true);
  tellReadiness(state, infra, doors, sibling);
  return {
    ...addressesOf(settings, { ...ports, metrics: metrics.port }),
    gateway,
    infra,
    stop: once(() => stop({ settings, doors, metrics, gateway, asyncCalls, infra, state, demo, sibling })),
  };
}

function tellReadiness(state: ServiceState, infra: Infra, doors: Doors, sibling: Sibling | undefined): void {
  const failed = (err: unknown) => infra.log.error({ err }, 'readiness could not be checked; tried again');
  const changed = (reason: string | undefined) => {
    doors.setAccepting(reason === undefined);
    sibling?.refuses(reason ?? null);
  };
  state.onChange(infra.ports.clock, changed, failed);
}

function stateOf(
  { redis, database, role }: Settings,
  infra: Infra,
  gateway: Gateway,
  sibling: Sibling | undefined,
): ServiceState {
  const notes = notesOf(infra);
  return new ServiceState({
    executors: () => gateway.status(),
    degraded: () => ({ ...infra.degraded(), ...degradedTools(gateway.sync.status()) }),
    notes: () => notes,
    stores: { embedded: database.url === undefined, redis: redis.url !== undefined, role },
    siblings: sibling === undefined ? undefined : () => sibling.states,
    recordsEveryCall: infra.ports.auditSink.readOnlyMode === 'durable',
  });
}

/** What the settings leave open: told in the log, too. */
function notesOf({ database, log }: Infra): JsonObject {
  if (database.isAppendOnly) return {};
  const audit =
    'audit records are not append-only: the role of database.url can change and delete them; set database.owner_url (docs/audit.md)';
  log.warn({}, audit);
  return { audit };
}

/** The loaders and toolsets of gateway.yaml, while the gateway runs. */
function toolsOf({ toolsets, useLoaders }: Gateway): SettingsListener {
  return {
    follows: 'loaders and toolsets',
    apply: (now) => {
      useLoaders(now);
      toolsets.replace(now.toolsets);
    },
  };
}

async function gatewayOf(settings: Settings, { ports, oauth, assignments }: Infra): Promise<Gateway> {
  const perCaller = { agentTools: oauth.agentTools, assigned: assignments.versions };
  const gateway = await createGateway(settings, ports, perCaller);
  oauth.uses(gateway.registry);
  return gateway;
}

/** With what every replica knows of it in memory. */
async function openDatabase({
  database,
  watched,
  keys,
  agents,
  oauth,
  keyCheck,
  assignments,
}: Infra): Promise<void> {
  agents.keyServices.start();
  await database.openNow();
  const known = [keys.start(), agents.followed.start(), oauth.known.start(), assignments.followed.start()];
  await Promise.all(known);
  keyCheck.start();
  watched?.start();
}

/** Beside the start: it does not depend on what this finds. */
async function probeSandbox(
  infra: Infra,
  state: ServiceState,
  announce: (line: string) => void,
): Promise<void> {
  const report = await infra.ports.sandbox.describe();
  state.confinedBy(report);
  const { backend, refused, shortage } = report;
  infra.log.info({ ...state.sandbox(), refused }, 'sandbox found');
  if (shortage !== undefined)
    announce(`${notTried(shortage)} Until then shell and Python tools refuse their calls.\n`);
  else if (backend === 'none')
    announce(
      'There is no sandbox here, so shell and Python tools refuse their calls, but for Python tools that executors.python.sandbox lets run without one. Install one: apt-get install bubblewrap util-linux\n',
    );
  if (backend === 'landlock')
    announce(
      'Shell and Python tools run in the lesser sandbox, Landlock (docs/sandbox.md). For bubblewrap: apt-get install bubblewrap util-linux\n',
    );
}

interface Running {
  readonly settings: Settings;
  readonly doors: Doors;
  readonly metrics: MetricsDoor;
  readonly gateway: Gateway;
  readonly asyncCalls: AsyncService;
  readonly infra: Infra;
  readonly state: ServiceState;
  readonly demo: DemoUpstream | undefined;
  readonly sibling: Sibling | undefined;
}

/** Order matters: first nobody sends us anything new, then what runs ends, then what it needed is closed. */
async function stop({
  settings,
  doors,
  metrics,
  gateway,
  asyncCalls,
  infra,
  state,
  demo,
  sibling,
}: Running): Promise<void> {
  infra.log.info({ inFlight: gateway.executor.inFlight }, 'draining');
  const drainedBy = performance.now() + settings.shutdown.drain_ms;
  state.drain();
  sibling?.drains();
  doors.setServing(false);
  asyncCalls.drain();
  gateway.executor.drain();
  const outOfTime = setTimeout(() => gateway.executor.abortAll(), settings.shutdown.drain_ms);
  // The doors stay open meanwhile: /readyz tells the load balancer, late calls get a typed refusal.
  await gateway.executor.whenIdle();
  clearTimeout(outOfTime);
  await asyncCalls.close();
  await doors.close();
  await infra.watched?.stop();
  await gateway.close();
  await metrics.close();
  await demo?.close();
  infra.log.info({}, 'stopped');
  await infra.close(Math.max(LEAST_SHIP_MS, drainedBy - performance.now()));
}

function once(task: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => (running ??= task());
}
