// Published MCP servers, from the config of their own README to an answer: installed into a folder that stays, started in the
// sandbox, listed by the loader, called; no provider refuses a tool of theirs. One that cannot be installed is told at the end, and twenty have to be.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/contract/json.ts';
import { ToolFailure } from '../../src/contract/call/tool-failure.ts';
import { functionsOf } from '../../src/contract/tool/tool-function.ts';
import { readMcpJson } from '../../src/lib/mcp/mcp-json.ts';
import { resolveReferences } from '../../src/lib/secrets/references.ts';
import type { McpResult } from '../../src/ports/egress/mcp-servers.ts';
import { callTool, McpBench } from '../helpers/mcp-kit.ts';
import { LoaderBench, specsOf } from '../helpers/mcp-loader-kit.ts';
import { allRefusals } from '../provider-checkers/refusals.ts';
import { SERVERS, type PublishedServer } from './servers.ts';

/** Stays for the next run; CI may keep it. */
const FOLDER = process.env['UTE_TEST_SERVERS_DIR'] ?? join(tmpdir(), 'ute-mcp-servers');
const LEAST = 20;
const NEVER = new AbortController().signal;

interface Seen {
  readonly packages: string;
  readonly tools: number;
  readonly leftOut: readonly string[];
  readonly answer: string;
}

const seen = new Map<string, Seen>();
const notInstalled = new Map<string, string>();
let bench: McpBench;
let loaders: LoaderBench;

beforeAll(() => {
  mkdirSync(FOLDER, { recursive: true, mode: 0o755 });
  bench = new McpBench({ packagesDir: join(FOLDER, 'packages') });
  loaders = new LoaderBench();
});

afterAll(async () => {
  await loaders?.close();
  await bench?.close();
  const lines = [...seen].map(([name, { packages, tools, leftOut, answer }]) => {
    const out = leftOut.length === 0 ? '' : `, left out: ${leftOut.join(', ')}`;
    return `${name} (${packages}): ${tools} tools${out}; ${answer}`;
  });
  for (const [name, why] of notInstalled) lines.push(`${name}: NOT INSTALLED. ${why}`);
  process.stdout.write(`Published MCP servers:\n${lines.toSorted().join('\n')}\n`);
});

/** A folder of the server's own, with a note in it and a history. */
function workFolder(name: string): string {
  const folder = join(bench.sandbox.dir, 'work', name);
  mkdirSync(folder, { recursive: true, mode: 0o777 });
  execFileSync('git', ['init', '-q', folder]);
  writeFileSync(join(folder, 'note.txt'), 'a note\n');
  execFileSync('chmod', ['-R', 'a+rwX', folder]);
  return folder;
}

function withFolder<Value extends JsonValue>(value: Value, folder: string): Value {
  return JSON.parse(JSON.stringify(value).replaceAll('{work}', folder)) as Value;
}

/** As `ute import` writes it, and as a gateway with these variables reads that. */
async function connectionOf(
  name: string,
  { readme, more = {}, keys = {} }: PublishedServer,
): Promise<JsonObject> {
  const folder = workFolder(name);
  const config: JsonObject = { mcpServers: { [name]: withFolder(readme, folder) } };
  const { servers, leftOut } = readMcpJson(config);
  expect(leftOut).toEqual([]);
  const { connection = {}, unpinned = [], secrets = [] } = servers[0] ?? {};
  expect(unpinned).toEqual([]);
  const { readable: _mayRead, ...fields } = { ...connection, ...withFolder(more, folder) };
  const wanted: JsonObject = { readable: [folder], ...fields, connect_timeout_ms: 60_000 };
  const kept = more['writable'] === undefined ? wanted : fieldsWithout(wanted, 'readable');
  const env = Object.fromEntries(
    secrets.map(({ variable, place }) => [variable, keys[place.replace(/^env /, '')]]),
  );
  const { value, faults } = await resolveReferences(kept, { env, baseDir: folder });
  expect(faults).toEqual([]);
  return value as JsonObject;
}

/** Some say what went wrong by an error of the protocol. */
function toldByTool(error: unknown): McpResult {
  if (!(error instanceof ToolFailure) || error.reason !== 'RPC_ERROR') throw error;
  return { content: [{ type: 'text', text: error.message }], isError: true };
}

function fieldsWithout(fields: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([field]) => field !== name));
}

describe('a published server', () => {
  it.concurrent.each(Object.entries(SERVERS))(
    '%s lists its tools and answers a call',
    async (name, server) => {
      const connection = await connectionOf(name, server);
      const opened = bench.open(connection);
      try {
        await opened.prepare(NEVER);
      } catch (error) {
        if (!(error instanceof ToolFailure)) throw error;
        notInstalled.set(name, error.message);
        return;
      }
      const { tools } = await opened.listTools(AbortSignal.timeout(60_000));
      const loaded = await loaders.loader(bench.servers, { ...connection, name }).load(NEVER);
      const specs = specsOf(loaded);
      const leftOut = tools.flatMap((tool) => (specs.has(`${name}.${tool.name}`) ? [] : [tool.name]));
      expect(tools.length).toBeGreaterThan(0);
      expect(specs.size).toBeGreaterThan(0);
      expect(allRefusals([...specs.values()].flatMap(functionsOf))).toEqual([]);

      const { tool, arguments: args, says } = server.call;
      const folder = join(bench.sandbox.dir, 'work', name);
      const asked = { signal: AbortSignal.timeout(60_000) };
      const result = await callTool(opened, tool, withFolder(args, folder), asked).catch(toldByTool);
      const answer = JSON.stringify(result.content);
      const isAsSaid = says === undefined || !result.isError;
      expect([answer, isAsSaid]).toEqual([expect.stringMatching(says ?? ''), true]);
      const packages = JSON.stringify(connection['package']);
      seen.set(name, {
        packages,
        tools: tools.length,
        leftOut,
        answer: result.isError ? `the tool could not: ${answer.slice(0, 120)}` : 'answered',
      });
      await opened.close();
    },
  );

  it('of them, at least twenty are installed, listed and called', () => {
    expect([...notInstalled.keys(), ...seen.keys()].toSorted()).toEqual(Object.keys(SERVERS).toSorted());
    expect(seen.size).toBeGreaterThanOrEqual(LEAST);
  });
});
