// What a connection says, settled: the program found, paths absolute, defaults in place. One for executor and loader,
// so that both come to the same settings and with them to the same server. The port McpServers says what they mean.
import { dirname, resolve } from 'node:path';
import { egressOf } from '../egress/egress.ts';
import { findMcpProgram } from './mcp-command.ts';
import { mcpConnectionSchema, type McpConnection } from './mcp-connection.ts';

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
  const { command, url } = connection;
  if (command !== undefined) return { ...stdioOf(command, connection, baseDir), limits };
  if (url === undefined) throw new Error('Expected either command or url.');
  return {
    kind: 'http' as const,
    url,
    egress: egressOf(connection, new URL(url)),
    headers: { ...connection.headers, ...authHeaders(connection) },
    limits,
  };
}

function stdioOf(
  command: string,
  { args = [], cwd, env = {}, readable = [], writable = [], ...rest }: McpConnection,
  baseDir: string,
) {
  const program = findMcpProgram(command, baseDir, process.env['PATH'] ?? SYSTEM_PATH);
  const folder = cwd === undefined ? '/' : resolve(baseDir, cwd);
  const places = writable.map((path) => resolve(baseDir, path));
  const isWritable = (path: string) => places.some((place) => `${path}/`.startsWith(`${place}/`));
  const shown = [...program.outside, ...readable.map((path) => resolve(baseDir, path)), folder];
  const { sandbox = 'required' } = rest;
  return {
    kind: 'stdio' as const,
    argv: [program.path, ...args],
    cwd: folder,
    env: { ...baseEnv(dirname(program.path), sandbox), ...env },
    sandbox,
    readable: [...new Set(shown)].filter((path) => path !== '/' && !isWritable(path)),
    writable: places,
    network: rest.network ?? 'none',
    memoryBytes: rest.memory_bytes ?? 1024 * MIB,
    maxProcesses: rest.max_processes ?? 64,
    protocol: rest.protocol ?? 'legacy',
  };
}

/** What programs cannot do without; nothing of it is the gateway's own. */
function baseEnv(folder: string, sandbox: 'required' | 'off'): { readonly [name: string]: string } {
  const path = SYSTEM_PATH.split(':').includes(folder) ? SYSTEM_PATH : `${folder}:${SYSTEM_PATH}`;
  return { PATH: path, LANG: 'C.UTF-8', ...(sandbox === 'required' && { HOME: '/tmp', TMPDIR: '/tmp' }) };
}

function authHeaders({ auth }: McpConnection): { readonly [name: string]: string } {
  if (auth === undefined) return {};
  return auth.type === 'bearer' ? { authorization: `Bearer ${auth.token}` } : { [auth.name]: auth.value };
}

/** Header values that may well be part of an honest answer. */
const PLAIN_HEADER = /^(?:accept(?:-.*)?|user-agent|prefer|cache-control|.*version)$/i;
/** Most variables are paths and switches, which belong in answers: a secret is known by its name or its looks. */
const SECRET_NAME = /key|token|secret|pass|pwd|auth|cred|private|cookie|session|signature|dsn|_url$|^url$/i;
const SECRET_LOOKS = /^[A-Za-z0-9_.+=-]{20,}$|:\/\/[^/@\s]*:[^/@\s]+@/;

type SecretPlaces =
  | { readonly kind: 'stdio'; readonly env: { readonly [name: string]: string } }
  | { readonly kind: 'http'; readonly url: string; readonly headers: { readonly [name: string]: string } };

/** Everything of the settings that must not come back in results, errors and logs. */
export function mcpSecrets(settings: SecretPlaces): readonly string[] {
  if (settings.kind === 'stdio') {
    return Object.entries(settings.env)
      .filter(([name, value]) => SECRET_NAME.test(name) || SECRET_LOOKS.test(value))
      .map(([, value]) => value);
  }
  const headers = Object.entries(settings.headers)
    .filter(([name]) => !PLAIN_HEADER.test(name))
    // "Bearer x" comes back as x, too.
    .flatMap(([, value]) => [value, ...value.split(/[\s;,]+/).slice(1)]);
  return [...headers, ...new URL(settings.url).searchParams.values()];
}
