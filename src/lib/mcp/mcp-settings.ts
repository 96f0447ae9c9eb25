// What a connection says, settled: the program found, paths absolute, defaults in place. One for executor and loader,
// so that both come to the same settings and with them to the same server. The port McpServers says what they mean.
import { dirname, resolve } from 'node:path';
import { egressOf } from '../egress/egress.ts';
import { withoutCovered } from '../files/program-needs.ts';
import { findMcpProgram } from './mcp-command.ts';
import { mcpConnectionSchema, packagesIn, type McpConnection } from './mcp-connection.ts';
import { isSecretVariable } from './secret-variables.ts';
import { exactPackage, type ExactPackage } from './mcp-package.ts';

const MIB = 1 << 20;
const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin';

/**
 * `settings` of a connection of type mcp. Relative paths start at `baseDir`, the folder of the declaration that names the
 * connection. Throws Error with a sentence for the operator: no such program, a connection that is not valid.
 */
export function mcpSettings(settings: unknown, baseDir: string) {
  const connection = mcpConnectionSchema.parse(settings);
  const limits = {
    connectTimeoutMs: connection.connect_timeout_ms ?? 10_000,
    maxMessageBytes: connection.max_message_bytes ?? 4 * MIB,
    maxTools: connection.max_tools ?? 500,
    maxFailuresPerMinute: connection.max_failures_per_minute ?? 5,
  };
  const { url } = connection;
  if (url === undefined) return { ...stdioOf(connection, baseDir), limits };
  return {
    kind: 'http' as const,
    url,
    egress: egressOf(connection, new URL(url)),
    headers: { ...connection.headers, ...authHeaders(connection) },
    limits,
  };
}

function stdioOf(connection: McpConnection, baseDir: string) {
  const { cwd, env = {}, readable = [], writable = [], sandbox = 'required', ...rest } = connection;
  const folder = cwd === undefined ? '/' : resolve(baseDir, cwd);
  const places = writable.map((path) => resolve(baseDir, path));
  const isWritable = (path: string) => places.some((place) => `${path}/`.startsWith(`${place}/`));
  const { argv, outside, folders, ...from } = startOf(connection, baseDir);
  const shown = [...outside, ...readable.map((path) => resolve(baseDir, path)), folder];
  return {
    kind: 'stdio' as const,
    argv,
    ...from,
    cwd: folder,
    env: { ...baseEnv(folders, sandbox), ...env },
    sandbox,
    readable: withoutCovered(shown.filter((path) => path !== '/' && !isWritable(path))),
    writable: places,
    network: rest.network ?? 'none',
    memoryBytes: rest.memory_bytes ?? 1024 * MIB,
    maxProcesses: rest.max_processes ?? 64,
    ...(rest.tmp_bytes !== undefined && { tmpBytes: rest.tmp_bytes }),
    protocol: rest.protocol ?? 'legacy',
  };
}

interface Start {
  readonly argv: readonly string[];
  readonly outside: readonly string[];
  readonly folders: readonly string[];
  readonly package?: {
    readonly packages: readonly ExactPackage[];
    readonly program?: string;
    readonly scripts: boolean;
  };
}

/** A program that is here, or one of a package, which is installed when it is needed. */
function startOf(connection: McpConnection, baseDir: string): Start {
  const { command = '', args = [], install_scripts: scripts = false } = connection;
  const asked = packagesIn(connection);
  if (asked !== undefined) {
    const { packages, program, args: own } = asked;
    const from = { packages: packages.map(exactPackage), scripts };
    const named = program === undefined ? from : { ...from, program };
    return { argv: own, outside: [], folders: [], package: named };
  }
  const program = findMcpProgram(command, baseDir, process.env['PATH'] ?? SYSTEM_PATH);
  const folders = [dirname(program.path), ...program.folders];
  return { argv: [program.path, ...args], outside: program.outside, folders };
}

/** What programs cannot do without; nothing of it is the gateway's own. */
function baseEnv(
  folders: readonly string[],
  sandbox: 'required' | 'off',
): { readonly [name: string]: string } {
  const system = SYSTEM_PATH.split(':');
  const own = [...new Set(folders)].filter((folder) => !system.includes(folder));
  const path = [...own, ...system].join(':');
  return { PATH: path, LANG: 'C.UTF-8', ...(sandbox === 'required' && { HOME: '/tmp', TMPDIR: '/tmp' }) };
}

function authHeaders({ auth }: McpConnection): { readonly [name: string]: string } {
  if (auth === undefined) return {};
  return auth.type === 'bearer' ? { authorization: `Bearer ${auth.token}` } : { [auth.name]: auth.value };
}

/** Header values that may well be part of an honest answer. */
const PLAIN_HEADER = /^(?:accept(?:-.*)?|user-agent|prefer|cache-control|.*version)$/i;
type SecretPlaces =
  | { readonly kind: 'stdio'; readonly env: { readonly [name: string]: string } }
  | { readonly kind: 'http'; readonly url: string; readonly headers: { readonly [name: string]: string } };

/** Everything of the settings that must not come back in results, errors and logs. */
export function mcpSecrets(settings: SecretPlaces): readonly string[] {
  if (settings.kind === 'stdio') {
    return Object.entries(settings.env)
      .filter(([name, value]) => isSecretVariable(name, value))
      .map(([, value]) => value);
  }
  const headers = Object.entries(settings.headers)
    .filter(([name]) => !PLAIN_HEADER.test(name))
    // "Bearer x" comes back as x, too.
    .flatMap(([, value]) => [value, ...value.split(/[\s;,]+/).slice(1)]);
  return [...headers, ...new URL(settings.url).searchParams.values()];
}
