// Reads `{"mcpServers": …}`, the form in which READMEs and desktop programs configure MCP servers, as connections.
import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { ImportedSecrets, VariableNames, type MovedSecret } from './imported-secrets.ts';
import { readPackage, nameOf, type NamedPackage } from './mcp-package.ts';
import { packageCommand, runnerProblem, runnerWords } from './runner-command.ts';

export interface ImportedServer {
  /** Fit to be the name of a connection. */
  readonly name: string;
  /** As an operator writes it, without its type. Packages without a version have none yet: `unpinned` has them. */
  readonly connection: JsonObject;
  readonly unpinned: readonly NamedPackage[];
  /** What has to be set in the environment for it. */
  readonly secrets: readonly MovedSecret[];
  /** What an operator should look at. */
  readonly notes: readonly string[];
}

export interface ReadServers {
  readonly servers: readonly ImportedServer[];
  readonly leftOut: readonly { readonly name: string; readonly reason: string }[];
}

/** `mcpServers`, or `servers` as in some editors. Throws Error where there is neither. */
export function readMcpJson(value: JsonValue): ReadServers {
  const root = isJsonObject(value) ? value : {};
  const inside = isJsonObject(root['mcp']) ? root['mcp'] : root;
  const found = inside['mcpServers'] ?? inside['servers'] ?? inside['context_servers'];
  if (!isJsonObject(found))
    throw new Error('Expected an object with "mcpServers", as {"mcpServers": {"name": {"command": …}}}.');
  const servers: ImportedServer[] = [];
  const leftOut: { name: string; reason: string }[] = [];
  const taken = new Set<string>();
  const variables = new VariableNames(JSON.stringify(found));
  for (const [written, entry] of Object.entries(found)) {
    const name = nameFor(written, taken);
    const read = isJsonObject(entry)
      ? readEntry(name, entry, new ImportedSecrets(name, variables))
      : 'it is not an object';
    if (typeof read === 'string') leftOut.push({ name: written, reason: read });
    else servers.push(read);
  }
  return { servers, leftOut };
}

function nameFor(written: string, taken: Set<string>): string {
  const clean =
    written
      .replaceAll(/[^A-Za-z0-9_-]+/g, '_')
      .replaceAll(/^_+|_+$/g, '')
      .slice(0, 28) || 'server';
  let name = clean;
  for (let n = 2; taken.has(name); n += 1) name = `${clean}_${n}`;
  taken.add(name);
  return name;
}

function readEntry(name: string, entry: JsonObject, secrets: ImportedSecrets): ImportedServer | string {
  const url = entry['url'] ?? entry['serverUrl'] ?? entry['httpUrl'];
  if (typeof url === 'string') return remote(name, url, entry, secrets);
  // Some write program and arguments as one object.
  const command = isJsonObject(entry['command']) ? entry['command']['path'] : entry['command'];
  const from = isJsonObject(entry['command']) ? entry['command'] : entry;
  if (typeof command !== 'string' || command === '') return 'it has neither a command nor a url';
  const args = textsIn(from['args']);
  if (args === undefined) return 'its args are not a list of texts';
  return local({ name, command, args, env: textMembers(from['env']), cwd: entry['cwd'] }, secrets);
}

interface LocalServer {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: string };
  readonly cwd: JsonValue | undefined;
}

function local(
  { name, command, args, env, cwd }: LocalServer,
  secrets: ImportedSecrets,
): ImportedServer | string {
  const asked = packageCommand(command, args);
  const problem = asked === undefined ? runnerProblem(command, args) : undefined;
  if (problem !== undefined) return problem;
  const packages = asked?.packages.map((each) => readPackage(asked.registry, each)) ?? [];
  const named = packages.filter((each) => each !== undefined);
  const moved = Object.entries(env).map(([key, value]) => [key, secrets.inEnv(key, value)] as const);
  const words = asked === undefined ? runnerWords(command, args) : 0;
  const own = [
    ...secrets.inRunnerWords(args.slice(0, words)),
    ...secrets.inArguments(asked?.args ?? args.slice(words)),
  ];
  const paths = own.filter((arg) => isAbsolute(arg) && existsSync(arg));
  const connection: JsonObject = {
    ...(asked === undefined
      ? { command: secrets.inText(command, 'command') }
      : { package: listOrOne(named.map(nameOf)) }),
    ...(asked?.program !== undefined && { program: asked.program }),
    ...(own.length > 0 && { args: own }),
    ...(moved.length > 0 && { env: Object.fromEntries(moved) }),
    ...(typeof cwd === 'string' && { cwd: secrets.inText(cwd, 'cwd') }),
    ...(paths.length > 0 && { readable: [...new Set(paths)] }),
  };
  return {
    name,
    connection,
    unpinned: named.filter(({ version }) => version === undefined),
    secrets: secrets.moved,
    notes: notesOf(asked === undefined ? command : '', paths),
  };
}

function notesOf(command: string, paths: readonly string[]): readonly string[] {
  return [
    ...(/(?:^|\/)docker$/.test(command)
      ? [
          'it starts a container, which cannot be done in the sandbox: with `sandbox: off` it runs as the gateway’s own user',
        ]
      : []),
    ...(paths.length > 0
      ? ['it may read the paths among its arguments; name those that it is to change under `writable`']
      : []),
    'it has no network; say `network: host` where it needs one',
  ];
}

function remote(
  name: string,
  text: string,
  entry: JsonObject,
  secrets: ImportedSecrets,
): ImportedServer | string {
  const url = URL.parse(text);
  if (url === null) return 'its url is not one';
  const headers: { [name: string]: string } = {};
  for (const [key, value] of Object.entries(textMembers(entry['headers'])))
    headers[key] = secrets.inHeader(key, value);
  const hasUser = url.username !== '' || url.password !== '';
  if (hasUser && !Object.keys(headers).some((key) => key.toLowerCase() === 'authorization'))
    headers['Authorization'] = secrets.basicAuthorization();
  const withoutUser = hasUser ? text.replace(/^([^:]+:\/\/)[^/?#]*@/, '$1') : text;
  const notes =
    entry['type'] === 'sse' || /\/sse\/?$/.test(text)
      ? [
          'it names the transport of 2024, HTTP with SSE: where the server has a newer endpoint, most often /mcp, name that',
        ]
      : [];
  const connection = {
    url: secrets.inUrl(withoutUser),
    ...(Object.keys(headers).length > 0 && { headers }),
  };
  return { name, connection, unpinned: [], secrets: secrets.moved, notes };
}

function textMembers(value: JsonValue | undefined): { readonly [name: string]: string } {
  if (!isJsonObject(value ?? null)) return {};
  return Object.fromEntries(
    Object.entries(value as JsonObject).flatMap(([name, each]) =>
      typeof each === 'string' || typeof each === 'number' || typeof each === 'boolean'
        ? [[name, String(each)]]
        : [],
    ),
  );
}

function textsIn(value: JsonValue | undefined): readonly string[] | undefined {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return undefined;
  return value.every((each) => ['string', 'number'].includes(typeof each)) ? value.map(String) : undefined;
}

function listOrOne(names: readonly string[]): JsonValue {
  const [only = ''] = names;
  return names.length === 1 ? only : [...names];
}
