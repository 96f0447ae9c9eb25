// Reads `{"mcpServers": …}`, the form in which READMEs and desktop programs configure MCP servers, as connections.
import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { packageCommand, readPackage, nameOf, type NamedPackage } from './mcp-package.ts';
import { isSecretVariable } from './secret-variables.ts';

export interface ImportedServer {
  /** Fit to be the name of a connection. */
  readonly name: string;
  /** As an operator writes it, without its type. Packages without a version have none yet: `unpinned` has them. */
  readonly connection: JsonObject;
  readonly unpinned: readonly NamedPackage[];
  /** Variables of the environment that secrets were moved to. */
  readonly variables: readonly string[];
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
  for (const [written, entry] of Object.entries(found)) {
    const name = nameFor(written, taken);
    const read = isJsonObject(entry) ? readEntry(name, entry) : 'it is not an object';
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

function readEntry(name: string, entry: JsonObject): ImportedServer | string {
  const url = entry['url'] ?? entry['serverUrl'] ?? entry['httpUrl'];
  if (typeof url === 'string') return remote(name, url, entry);
  // Some write program and arguments as one object.
  const command = isJsonObject(entry['command']) ? entry['command']['path'] : entry['command'];
  const from = isJsonObject(entry['command']) ? entry['command'] : entry;
  if (typeof command !== 'string' || command === '') return 'it has neither a command nor a url';
  const args = textsIn(from['args']);
  if (args === undefined) return 'its args are not a list of texts';
  return local(name, command, args, { ...entry, env: from['env'] ?? null });
}

function local(
  name: string,
  command: string,
  args: readonly string[],
  entry: JsonObject,
): ImportedServer | string {
  const secrets = new Secrets(name);
  const env = secrets.moved(textMembers(entry['env']));
  const asked = packageCommand(command, args);
  const packages = asked?.packages.map((each) => readPackage(asked.registry, each)) ?? [];
  const named = packages.filter((each) => each !== undefined);
  const own = (asked?.args ?? args).map((arg) => secrets.inArgument(arg));
  const paths = own.filter((arg) => isAbsolute(arg) && existsSync(arg));
  const notes = [
    ...(asked === undefined && /(?:^|\/)docker$/.test(command)
      ? [
          'it starts a container, which cannot be done in the sandbox: with `sandbox: off` it runs as the gateway’s own user',
        ]
      : []),
    ...(paths.length > 0
      ? ['it may read the paths among its arguments; name those that it is to change under `writable`']
      : []),
    'it has no network; say `network: host` where it needs one',
  ];
  const connection: JsonObject = {
    ...(asked === undefined ? { command } : { package: listOrOne(named.map(nameOf)) }),
    ...(asked?.program !== undefined && { program: asked.program }),
    ...(own.length > 0 && { args: [...own] }),
    ...(Object.keys(env).length > 0 && { env }),
    ...(typeof entry['cwd'] === 'string' && { cwd: entry['cwd'] }),
    ...(paths.length > 0 && { readable: [...new Set(paths)] }),
  };
  return {
    name,
    connection,
    unpinned: named.filter(({ version }) => version === undefined),
    variables: secrets.variables,
    notes,
  };
}

function remote(name: string, url: string, entry: JsonObject): ImportedServer | string {
  if (URL.parse(url) === null) return 'its url is not one';
  const secrets = new Secrets(name);
  const headers = secrets.moved(textMembers(entry['headers']), true);
  const notes =
    entry['type'] === 'sse' || /\/sse\/?$/.test(url)
      ? [
          'it names the transport of 2024, HTTP with SSE: where the server has a newer endpoint, most often /mcp, name that',
        ]
      : [];
  const connection = { url: secrets.inArgument(url), ...(Object.keys(headers).length > 0 && { headers }) };
  return { name, connection, unpinned: [], variables: secrets.variables, notes };
}

/** Moves what looks like a secret, and what only stands for one, out of the text. */
class Secrets {
  readonly variables: string[] = [];
  readonly #server: string;

  constructor(server: string) {
    this.#server = server;
  }

  moved(values: { readonly [name: string]: string }, all = false): JsonObject {
    return Object.fromEntries(
      Object.entries(values).map(([name, value]) => {
        const isOne = all
          ? !/^(?:accept|content-type|user-agent)$/i.test(name)
          : isSecretVariable(name, value);
        return [
          name,
          isOne || isStandIn(value) ? this.#reference(all ? `${this.#server}_${name}` : name, value) : value,
        ];
      }),
    );
  }

  /** Whole references of other programs alone: an argument is no place for a secret. */
  inArgument(text: string): string {
    return text.replaceAll(/\$\{(?:input:|env:)?([A-Za-z_][\w-]*)\}/g, (_, name: string) =>
      this.#reference(name, ''),
    );
  }

  #reference(name: string, value: string): string {
    const own = /^\$\{(?:input:|env:)?([A-Za-z_][\w-]*)\}$/.exec(value)?.[1] ?? name;
    const variable = own.replaceAll(/[^A-Za-z0-9]+/g, '_').toUpperCase();
    if (!this.variables.includes(variable)) this.variables.push(variable);
    return `\${env:${variable}}`;
  }
}

function isStandIn(value: string): boolean {
  return /^\$\{.+\}$|^<.+>$|your[-_ ]|^xxx+$/i.test(value);
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
