// What settings say that is well-formed and still cannot be, with the setting to change.
import { BUILT_IN_ROLES, unknownRole } from '../../contract/call/principal.ts';
import { modeProblems } from '../call-rules.ts';
import type { Environment } from '../settings-source.ts';
import type { SettingsFile } from '../settings-schema.ts';

interface Contradiction {
  /** Where it stands in the settings: names, and places in lists. */
  readonly path: readonly string[];
  readonly message: string;
}

type Section = keyof SettingsFile;

interface Check {
  /** What it looks at. It is left out where one of them is wrong in itself: what it would find may not be so. */
  readonly of: readonly Section[];
  readonly find: (settings: SettingsFile, env: Environment) => readonly Contradiction[];
}

const DOORS = ['http', 'grpc', 'metrics'] as const;

const CHECKS: readonly Check[] = [
  { of: ['auth', 'host'], find: openToEverybody },
  { of: ['auth'], find: unusedCredentials },
  { of: ['auth', 'tls'], find: unsignedCertificates },
  { of: ['role', 'database'], find: roleWithoutDatabase },
  { of: ['processes', 'redis', 'database'], find: severalProcesses },
  { of: ['redis'], find: redisTopology },
  { of: ['redis'], find: missingRedis },
  { of: ['auth'], find: unknownRoles },
  { of: ['auth', 'approvals'], find: unknownRolesOfGroups },
  { of: ['webhooks'], find: unsignedWebhooks },
  { of: ['modes'], find: wrongModes },
  { of: DOORS, find: sharedPorts },
];

/** `wrong`: sections whose values are refused already; something else stands in their place. */
export function contradictions(
  settings: SettingsFile,
  env: Environment,
  wrong: ReadonlySet<string>,
): readonly Contradiction[] {
  return CHECKS.filter(({ of }) => !of.some((section) => wrong.has(section))).flatMap(({ find }) =>
    find(settings, env),
  );
}

function openToEverybody({ auth, host }: SettingsFile): Contradiction[] {
  const isLoopback = ['127.0.0.1', '::1', 'localhost'].includes(host);
  if (auth.mode !== 'none' || isLoopback) return [];
  const message = `auth "none" is only for loopback, but host is "${host}": use api_keys, or host 127.0.0.1`;
  return [{ path: ['auth', 'mode'], message }];
}

function unusedCredentials({ auth }: SettingsFile): Contradiction[] {
  const message = 'are for auth.mode api_keys: with "none" everybody is let in without them';
  return (['issuers', 'client_certificates'] as const)
    .filter((list) => auth.mode === 'none' && auth[list].length > 0)
    .map((list) => ({ path: ['auth', list], message }));
}

function unsignedCertificates({ auth, tls }: SettingsFile): Contradiction[] {
  if (auth.client_certificates.length === 0 || tls?.client_ca_file !== undefined) return [];
  const message = 'is needed for auth.client_certificates: PEM of the CAs that sign them';
  return [{ path: ['tls', 'client_ca_file'], message }];
}

function roleWithoutDatabase({ role, database }: SettingsFile): Contradiction[] {
  if (role === 'all' || database.url !== undefined) return [];
  const message = `"${role}" is for one of several processes that share a database: set database.url or UTE_DATABASE_URL, or role all`;
  return [{ path: ['role'], message }];
}

function unsignedWebhooks({ webhooks }: SettingsFile): Contradiction[] {
  if (webhooks.allow_hosts === undefined || webhooks.secret !== undefined) return [];
  const message = 'is needed to sign webhooks with: set it or UTE_WEBHOOK_SECRET to whsec_ and base64';
  return [{ path: ['webhooks', 'secret'], message }];
}

function wrongModes({ modes }: SettingsFile): Contradiction[] {
  return modeProblems(modes).map(({ path, message }) => ({ path: ['modes', ...path.split('.')], message }));
}

function missingRedis({ redis }: SettingsFile, env: Environment): Contradiction[] {
  const { url, required = env['NODE_ENV'] === 'production' } = redis;
  if (!required || url !== undefined) return [];
  const message =
    'is required here: without Redis each replica would count limits for itself. Set it or UTE_REDIS_URL; for a single process, set redis.required: false (UTE_REDIS_REQUIRED=false)';
  return [{ path: ['redis', 'url'], message }];
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
    .map(({ why }) => ({ path: ['processes'], message: `is ${processes}, and ${why}; or processes: 1` }));
}

function redisTopology({ redis }: SettingsFile): Contradiction[] {
  const { url, mode, nodes, master_name: master, tls } = redis;
  const problem = (path: string, message: string) => ({ path: ['redis', path], message });
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

interface NamedRoles {
  readonly path: readonly string[];
  readonly roles: readonly string[];
}

/** A role that is nowhere is a mistake: nobody has it, and what a group of approvers waits for would expire. */
function unknownRoles({ auth }: SettingsFile): Contradiction[] {
  const ofIssuers = auth.issuers.flatMap(({ roles, default_roles: always }, at) => [
    { path: ['auth', 'issuers', `${at}`, 'default_roles'], roles: always },
    ...Object.entries(roles).map(([value, named]) => ({
      path: ['auth', 'issuers', `${at}`, 'roles', value],
      roles: named,
    })),
  ]);
  return unknownAmong(auth, [
    ...auth.keys.map(({ roles }, at) => ({ path: ['auth', 'keys', `${at}`, 'roles'], roles })),
    ...ofIssuers,
    ...auth.client_certificates.map(({ roles }, at) => ({
      path: ['auth', 'client_certificates', `${at}`, 'roles'],
      roles,
    })),
  ]);
}

function unknownRolesOfGroups({ approvals, auth }: SettingsFile): Contradiction[] {
  const named = Object.entries(approvals.groups).map(([group, { roles }]) => ({
    path: ['approvals', 'groups', group, 'roles'],
    roles,
  }));
  return unknownAmong(auth, named);
}

function unknownAmong(auth: SettingsFile['auth'], named: readonly NamedRoles[]): Contradiction[] {
  const known = Object.keys({ ...BUILT_IN_ROLES, ...auth.roles });
  return named.flatMap(({ path, roles }) =>
    roles.flatMap((role, at) => {
      if (unknownRole([role], auth.roles) === undefined) return [];
      const message = `"${role}" is no role: it is none of ${known.join(', ')}`;
      return [{ path: [...path, `${at}`], message }];
    }),
  );
}

function sharedPorts(settings: SettingsFile): Contradiction[] {
  return DOORS.flatMap((door, index) => {
    const { port } = settings[door];
    const first = DOORS.slice(0, index).find((other) => port !== 0 && settings[other].port === port);
    if (first === undefined) return [];
    return [{ path: [door, 'port'], message: `${port} is the port of ${first}.port already` }];
  });
}
