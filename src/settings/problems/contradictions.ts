// What settings say that is well-formed and still cannot be, with the setting to change.
import { BUILT_IN_ROLES, unknownRole } from '../../contract/call/principal.ts';
import { modeProblems } from '../call-rules.ts';
import type { Environment } from '../settings-source.ts';
import type { SettingsFile } from '../settings-schema.ts';

/** Where it stands in the settings, by its names with dots between. */
export interface Contradiction {
  readonly path: string;
  readonly message: string;
}

export function contradictions(settings: SettingsFile, env: Environment): readonly Contradiction[] {
  const problems: Contradiction[] = [];
  const loopback = ['127.0.0.1', '::1', 'localhost'].includes(settings.host);
  if (settings.auth.mode === 'none' && !loopback) {
    const message = `auth "none" is only for loopback, but host is "${settings.host}": use api_keys, or host 127.0.0.1`;
    problems.push({ path: 'auth.mode', message });
  }
  for (const list of ['issuers', 'client_certificates'] as const) {
    if (settings.auth.mode !== 'none' || settings.auth[list].length === 0) continue;
    const message = 'are for auth.mode api_keys: with "none" everybody is let in without them';
    problems.push({ path: `auth.${list}`, message });
  }
  if (settings.auth.client_certificates.length > 0 && settings.tls?.client_ca_file === undefined) {
    const message = 'is needed for auth.client_certificates: PEM of the CAs that sign them';
    problems.push({ path: 'tls.client_ca_file', message });
  }
  if (settings.role !== 'all' && settings.database.url === undefined) {
    const message = `"${settings.role}" is for one of several processes that share a database: set database.url or UTE_DATABASE_URL, or role all`;
    problems.push({ path: 'role', message });
  }
  problems.push(...severalProcesses(settings), ...redisTopology(settings), ...unknownRoles(settings));
  if (settings.webhooks.allow_hosts !== undefined && settings.webhooks.secret === undefined) {
    const message = 'is needed to sign webhooks with: set it or UTE_WEBHOOK_SECRET to whsec_ and base64';
    problems.push({ path: 'webhooks.secret', message });
  }
  for (const { path, message } of modeProblems(settings.modes))
    problems.push({ path: `modes.${path}`, message });
  problems.push(...sharedPorts(settings));
  const { url, required = env['NODE_ENV'] === 'production' } = settings.redis;
  if (required && url === undefined) {
    const message =
      'is required here: without Redis each replica would count limits for itself. Set it or UTE_REDIS_URL; for a single process, set redis.required: false (UTE_REDIS_REQUIRED=false)';
    problems.push({ path: 'redis.url', message });
  }
  return problems;
}

/** What processes have to share. With auto there is one where it is missing. */
function severalProcesses({ processes, redis, database }: SettingsFile): Contradiction[] {
  if (processes === 'auto' || processes === 1) return [];
  const shared = [
    { url: redis.url, why: 'each process would count limits for itself: set redis.url or UTE_REDIS_URL' },
    {
      url: database.url,
      why: 'only one process may hold the embedded database: set database.url or UTE_DATABASE_URL',
    },
  ];
  return shared
    .filter(({ url }) => url === undefined)
    .map(({ why }) => ({ path: 'processes', message: `is ${processes}, and ${why}; or processes: 1` }));
}

function redisTopology({ redis }: SettingsFile): Contradiction[] {
  const { url, mode, nodes, master_name: master, tls } = redis;
  const problem = (path: string, message: string) => ({ path: `redis.${path}`, message });
  return [
    ...(mode === 'sentinel' && master === undefined
      ? [problem('master_name', 'is needed where redis.mode is sentinel: what the sentinels call the server')]
      : []),
    ...(mode === 'single' && nodes.length > 0
      ? [problem('nodes', 'are for redis.mode sentinel or cluster: a single server is redis.url')]
      : []),
    ...(tls !== undefined && url?.startsWith('rediss:') !== true
      ? [problem('tls', 'is for a redis.url that begins with rediss://')]
      : []),
    ...((tls?.cert_file === undefined) === (tls?.key_file === undefined)
      ? []
      : [problem('tls', 'needs cert_file and key_file together')]),
  ];
}

/** A role that is nowhere is a mistake: nobody has it, and what a group of approvers waits for would expire. */
function unknownRoles({ approvals, auth }: SettingsFile): Contradiction[] {
  const known = Object.keys({ ...BUILT_IN_ROLES, ...auth.roles });
  const named = [
    ...auth.keys.map(({ roles }, at) => ({ path: `auth.keys.${at}.roles`, roles })),
    ...auth.client_certificates.map(({ roles }, at) => ({
      path: `auth.client_certificates.${at}.roles`,
      roles,
    })),
    ...Object.entries(approvals.groups).map(([group, { roles }]) => ({
      path: `approvals.groups.${group}.roles`,
      roles,
    })),
  ];
  return named.flatMap(({ path, roles }) =>
    roles.flatMap((role, at) => {
      if (unknownRole([role], auth.roles) === undefined) return [];
      const message = `"${role}" is no role: it is none of ${known.join(', ')}`;
      return [{ path: `${path}.${at}`, message }];
    }),
  );
}

const DOORS = ['http', 'grpc', 'metrics'] as const;

function sharedPorts(settings: SettingsFile): Contradiction[] {
  return DOORS.flatMap((door, index) => {
    const { port } = settings[door];
    const first = DOORS.slice(0, index).find((other) => port !== 0 && settings[other].port === port);
    if (first === undefined) return [];
    return [{ path: `${door}.port`, message: `${port} is the port of ${first}.port already` }];
  });
}
