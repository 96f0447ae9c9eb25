// `ute import`: the servers of an `mcp.json`, as entries of gateway.yaml or connections, pinned to the versions found.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { stringify } from 'yaml';
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import { syntaxFault } from '../../../lib/json/syntax-fault.ts';
import { readMcpJson, type ImportedServer, type ReadServers } from '../../../lib/mcp/mcp-json.ts';
import { nameOf } from '../../../lib/mcp/mcp-package.ts';
import type { CliIo } from '../../cli-io.ts';
import { CliFailure, EXIT, type ExitCode } from '../../exit-code.ts';
import { ownSettings } from '../../own-settings.ts';
import { QUIET_LOG } from '../../quiet-log.ts';

interface ImportOptions {
  readonly as: 'loaders' | 'connections';
}

export function addImportCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  program
    .command('import <file>')
    .summary('make entries of an mcp.json')
    .description(
      'Prints the servers of a file such as {"mcpServers": {…}} as YAML: entries under `loaders:` of gateway.yaml, or\n' +
        '`connections:` of a file of tools. Packages without a version are pinned to the newest, which the registry is asked\n' +
        'for; secrets become ${env:…}, each of a name that the server has for itself. What to set and to look at goes to\n' +
        'stderr. `-` reads standard input. Ends with 1 where a server is left out.',
    )
    .option('--as <kind>', 'loaders or connections', 'loaders')
    .action(async (file: string, options: ImportOptions) => {
      finish(await importServers(file, options, io));
    });
}

async function importServers(file: string, { as }: ImportOptions, io: CliIo): Promise<ExitCode> {
  if (as !== 'loaders' && as !== 'connections')
    throw new CliFailure(EXIT.usage, '--as: expected loaders or connections');
  const { servers, leftOut } = read(file, file === '-' ? await io.readStdin() : textOf(file, io));
  const lost = leftOut.map(({ name, reason }) => `${name}: left out: ${reason}`);
  const pinned: ImportedServer[] = [];
  const newest = servers.some(({ unpinned }) => unpinned.length > 0) ? await pinner(io) : undefined;
  try {
    for (const server of servers) {
      try {
        pinned.push(newest === undefined ? server : await newest.pin(server));
      } catch (error) {
        lost.push(`${server.name}: left out: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  } finally {
    await newest?.close();
  }
  io.stdout(stringify(as === 'loaders' ? asLoaders(pinned) : asConnections(pinned), { lineWidth: 0 }));
  for (const { name, notes } of pinned) for (const note of notes) io.stderr(`${name}: ${note}\n`);
  io.stderr(toBeSet(pinned));
  for (const line of lost) io.stderr(`${line}\n`);
  return lost.length === 0 ? EXIT.ok : EXIT.failed;
}

/** Each variable once, with the places that it stands for. */
function toBeSet(servers: readonly ImportedServer[]): string {
  const places = new Map<string, string[]>();
  for (const { name, secrets } of servers)
    for (const { variable, place } of secrets)
      places.set(variable, [...(places.get(variable) ?? []), `${name}: ${place}`]);
  if (places.size === 0) return '';
  const lines = [...places].map(([variable, from]) => `  ${variable} (${from.join('; ')})\n`);
  return `set in the gateway's environment, as the file has it:\n${lines.join('')}`;
}

function textOf(file: string, { cwd }: CliIo): string {
  try {
    return readFileSync(resolve(cwd, file), 'utf8');
  } catch (error) {
    throw new CliFailure(
      EXIT.failed,
      `${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? ''})`,
    );
  }
}

function read(file: string, text: string): ReadServers {
  try {
    return readMcpJson(parsed(text));
  } catch (error) {
    throw new CliFailure(EXIT.failed, `${file}: ${(error as Error).message}`);
  }
}

/** Throws Error with the place, and without a piece of the text, which may hold a secret. */
function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    const before = text.slice(0, syntaxFault(text) ?? 0).split('\n');
    throw new Error(
      `it is not JSON from line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1} on`,
    );
  }
}

interface Pinner {
  pin(server: ImportedServer): Promise<ImportedServer>;
  readonly close: () => Promise<void>;
}

/** Loads the gateway's own parts only where a registry has to be asked. */
async function pinner(io: CliIo): Promise<Pinner> {
  const { openPackages } = await import('../../../app/gateway/own-packages.ts');
  const { store, close } = openPackages(ownSettings(io), QUIET_LOG);
  return {
    async pin(server) {
      let text = JSON.stringify(server.connection['package'] ?? null);
      for (const named of server.unpinned) {
        const version = await store.newest(named, true);
        text = text.replace(JSON.stringify(nameOf(named)), JSON.stringify(nameOf({ ...named, version })));
      }
      if (server.unpinned.length === 0) return server;
      const connection = { ...server.connection, package: JSON.parse(text) as JsonValue };
      return { ...server, connection, unpinned: [] };
    },
    close,
  };
}

function asLoaders(servers: readonly ImportedServer[]): JsonObject {
  return { loaders: servers.map(({ name, connection }) => ({ type: 'mcp-server', name, ...connection })) };
}

function asConnections(servers: readonly ImportedServer[]): JsonObject {
  return {
    connections: Object.fromEntries(
      servers.map(({ name, connection }) => [name, { type: 'mcp', ...connection }]),
    ),
  };
}
