// The parts of a gateway as /readyz names them: what each is here, how it stands, and what follows for calls.
import type { Degraded } from '../../infra/telemetry/degraded-gauge.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import type { SandboxReport } from '../../ports/egress/sandbox.ts';

export interface Part {
  /** What it is in this gateway, e.g. `embedded`. */
  readonly kind: string;
  /** `away`: nothing can be done with it now. */
  readonly state: 'ok' | 'degraded' | 'away';
  /** What it means for calls; left out where all is well. */
  readonly effect?: string;
}

/** What the settings make of this gateway. */
export interface Stores {
  /** Whether the database is this gateway's own. */
  readonly embedded: boolean;
  readonly redis: boolean;
  /** A worker has no doors. */
  readonly role: Settings['role'];
}

export interface PartsNow {
  readonly stores: Stores;
  readonly degraded: Degraded;
  readonly sandbox: Pick<SandboxReport, 'backend'> | undefined;
  /** Python tools that may run outside of it do, as the settings allow. */
  readonly pythonUnconfined: boolean;
  /** Why no calls are taken. */
  readonly phase: string | undefined;
  /** How many share the ports; left out: one that has them alone. */
  readonly processes?: number | undefined;
}

export function partsOf(now: PartsNow): { readonly [name: string]: Part } {
  const { stores, degraded, phase, processes } = now;
  return {
    database: part(stores.embedded ? 'embedded' : 'postgresql', 'away', degraded['database']),
    redis: part(stores.redis ? 'redis' : 'memory of this process', 'away', degraded['admission']),
    queue: queueOf(stores, degraded),
    sandbox: sandboxOf(now),
    loaders: part('sources of tools', 'degraded', degraded['tools']),
    audit: part('journal and database', 'away', degraded['audit']),
    doors: doorsOf(stores, phase),
    ...(processes !== undefined && {
      processes: part(`${processes} processes on the same ports`, 'degraded', degraded['processes']),
    }),
  };
}

function part(kind: string, worst: 'degraded' | 'away', effect: string | undefined): Part {
  return effect === undefined ? { kind, state: 'ok' } : { kind, state: worst, effect };
}

function doorsOf({ role }: Stores, phase: string | undefined): Part {
  if (role === 'worker') return { kind: 'none: a worker runs what others accepted', state: 'ok' };
  return part('REST and gRPC', 'away', phase === undefined ? undefined : `no calls are taken: ${phase}`);
}

/** The rows are the queue; Redis only tells of new ones at once. */
function queueOf({ redis }: Stores, degraded: Degraded): Part {
  const kind = redis ? 'rows of the database, told by redis' : 'rows of the database';
  if (degraded['database'] !== undefined)
    return { kind, state: 'away', effect: 'no call is accepted to run later, and none of those starts' };
  if (degraded['admission'] === undefined) return { kind, state: 'ok' };
  const effect = 'accepted calls start up to a second later: replicas look for them among the rows';
  return { kind, state: 'degraded', effect };
}

function sandboxOf({ sandbox, pythonUnconfined }: PartsNow): Part {
  // Code that callers write is run in a sandbox or not at all.
  const who = pythonUnconfined ? "shell tools and Python tools of callers' code" : 'shell and Python tools';
  const besides = pythonUnconfined ? '; other Python tools run without a sandbox' : '';
  if (sandbox === undefined) return part('not known yet', 'degraded', `${who} wait for it${besides}`);
  const { backend } = sandbox;
  if (backend === 'none') {
    const worst = pythonUnconfined ? 'degraded' : 'away';
    return part(backend, worst, `${who} refuse their calls (SANDBOX_UNAVAILABLE)${besides}`);
  }
  const lesser = `${who} run in the lesser sandbox (docs/sandbox.md)${besides}`;
  return part(backend, 'degraded', backend === 'landlock' ? lesser : undefined);
}
