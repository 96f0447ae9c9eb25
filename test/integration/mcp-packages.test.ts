// MCP servers that come in packages: installed once from a registry, in the sandbox, and started without a network.
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { run } from '../../src/cli/run.ts';
import type { JsonObject } from '../../src/contract/json.ts';
import type { ToolFailure } from '../../src/contract/call/tool-failure.ts';
import { LoopbackServers } from '../helpers/loopback-servers.ts';
import { callTool, McpBench, textOf } from '../helpers/mcp-kit.ts';
import { npmRegistry, wheelFolder, type NpmRegistry } from '../helpers/package-registries.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

let dir: string;
let loopback: LoopbackServers;
let registry: NpmRegistry;
const benches: McpBench[] = [];

beforeEach(async () => {
  dir = tempDir();
  // Started by root, the server is somebody else in the sandbox.
  chmodSync(dir, 0o755);
  loopback = new LoopbackServers();
  registry = await npmRegistry(dir, loopback);
  vi.stubEnv('npm_config_registry', registry.url);
  vi.stubEnv('PIP_NO_INDEX', '1');
  vi.stubEnv('PIP_FIND_LINKS', wheelFolder(dir));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const bench of benches.splice(0)) await bench.close();
  await loopback.close();
  removeDir(dir);
});

/** Another gateway on the same folder of packages. */
function gateway(): McpBench {
  const packagesDir = join(dir, 'packages');
  mkdirSync(packagesDir, { recursive: true, mode: 0o755 });
  const bench = new McpBench({ packagesDir });
  benches.push(bench);
  return bench;
}

async function seenBy(connection: JsonObject, args: JsonObject = {}): Promise<JsonObject> {
  const result = await callTool(gateway().open(connection), 'look', args, {
    signal: AbortSignal.timeout(180_000),
  });
  return JSON.parse(textOf(result)) as JsonObject;
}

const refusal = (connection: JsonObject) =>
  gateway()
    .open(connection)
    .prepare(new AbortController().signal)
    .then(
      () => expect.unreachable('it was installed'),
      (error: ToolFailure) => error,
    );

describe('a package of npm', () => {
  it.each<[string, JsonObject]>([
    ['npx, as READMEs have it', { command: 'npx', args: ['-y', 'packed-server@1.2.3', 'a', '--b'] }],
    ['package', { package: 'npm:packed-server@1.2.3', args: ['a', '--b'] }],
  ])('is installed and started by %s, and sees nothing but what it needs', async (_, connection) => {
    const seen = await seenBy(connection, { path: join(dir, 'wheels') });
    expect(seen).toEqual({ args: ['a', '--b'], ran: false, path: false });
  });

  it('is installed once, for good: the next gateway asks no registry', async () => {
    await seenBy({ package: 'npm:packed-server@1.2.3' });
    const asked = registry.asked.length;
    await loopback.close();
    expect(await seenBy({ package: 'npm:packed-server@1.2.3' })).toMatchObject({ args: [] });
    expect(registry.asked).toHaveLength(asked);
    expect(readdirSync(join(dir, 'packages'))).toEqual(['npm']);
  });

  it('runs no script of its own while it is installed, unless the operator says so', async () => {
    expect(await seenBy({ package: 'npm:packed-server@1.2.3' })).toMatchObject({ ran: false });
    const allowed = { package: 'npm:packed-server@1.2.3', install_scripts: true };
    expect(await seenBy(allowed)).toMatchObject({ ran: true });
  });

  it('of several programs has the one started that is named, and says which there are', async () => {
    const { message, reason } = await refusal({ package: 'npm:two-programs@1.2.3' });
    expect(reason).toBe('PACKAGE_NOT_INSTALLED');
    expect(message).toContain('it has several programs: say which under `program`; there are one, two');
    expect(await seenBy({ package: 'npm:two-programs@1.2.3', program: 'two' })).toMatchObject({ args: [] });
  });

  it('is one clear line where there is no network, no such package and no such version', async () => {
    const unknown = await refusal({ package: 'npm:no-such-server@1.2.3' });
    expect(unknown).toMatchObject({ type: 'UNAVAILABLE', reason: 'PACKAGE_NOT_INSTALLED' });
    expect(unknown.message).toContain(
      'npm:no-such-server@1.2.3 is not installed: the registry has no such version',
    );
    expect((await refusal({ package: 'npm:packed-server@9.9.9' })).message).toContain('no such version');
    await loopback.close();
    const { message } = await refusal({ package: 'npm:packed-server@1.2.3' });
    expect(message).toBe(
      'The package npm:packed-server@1.2.3 is not installed: the registry cannot be reached. Run "ute packages install" where it can, and bring the folder of packages here.',
    );
    expect(readdirSync(join(dir, 'packages'))).toEqual([]);
  });
});

describe('a package of PyPI', () => {
  it.each<[string, JsonObject]>([
    ['uvx, as READMEs have it', { command: 'uvx', args: ['packed-server==1.2.3', 'a'] }],
    ['package', { package: 'pypi:packed_server==1.2.3', args: ['a'] }],
  ])('is installed and started by %s', async (_, connection) => {
    expect(await seenBy(connection)).toEqual({ args: ['a'] });
  });

  it('that is not there is one clear line', async () => {
    const { message } = await refusal({ package: 'pypi:packed-server==9.9.9' });
    expect(message).toContain('pypi:packed-server==9.9.9 is not installed: the registry has no such version');
  });
});

describe('the command line', () => {
  async function ute(...argv: string[]) {
    const out = { stdout: '', stderr: '' };
    const code = await run(argv, {
      stdout: (text) => (out.stdout += text),
      stderr: (text) => (out.stderr += text),
      readStdin: async () => '',
      fetch: () => Promise.reject(new Error('nobody is asked')),
      env: { UTE_CONFIG: join(dir, 'gateway.yaml'), UTE_DATA_DIR: join(dir, 'data') },
      cwd: dir,
    });
    return { code, ...out };
  }

  const mcpJson = (servers: JsonObject) =>
    writeFileSync(join(dir, 'mcp.json'), JSON.stringify({ mcpServers: servers }));

  beforeEach(() => writeFileSync(join(dir, 'gateway.yaml'), 'auth: { mode: none }\n'));

  it('ute import pins what an mcp.json leaves open, and moves secrets to the environment', async () => {
    mcpJson({
      one: { command: 'npx', args: ['-y', 'packed-server', '--flag'], env: { API_KEY: 'abc' } },
      two: { command: 'uvx', args: ['packed-server'] },
      three: { url: 'https://mcp.example/mcp' },
    });
    const { code, stdout, stderr } = await ute('import', 'mcp.json');
    expect(parse(stdout)).toEqual({
      loaders: [
        {
          type: 'mcp-server',
          name: 'one',
          package: 'npm:packed-server@1.2.3',
          args: ['--flag'],
          env: { API_KEY: '${env:ONE_API_KEY}' },
        },
        { type: 'mcp-server', name: 'two', package: 'pypi:packed-server==1.2.3' },
        { type: 'mcp-server', name: 'three', url: 'https://mcp.example/mcp' },
      ],
    });
    expect(stderr).toContain('  ONE_API_KEY (one: env API_KEY)');
    expect(code).toBe(0);
  });

  it('ute import makes connections of them where they are asked for', async () => {
    mcpJson({ one: { command: 'npx', args: ['packed-server'] } });
    const { stdout } = await ute('import', 'mcp.json', '--as', 'connections');
    expect(parse(stdout)).toEqual({
      connections: { one: { type: 'mcp', package: 'npm:packed-server@1.2.3' } },
    });
  });

  it('ute import leaves out what cannot be pinned, says why, and ends with 1', async () => {
    mcpJson({
      one: { command: 'npx', args: ['no-such-server'] },
      two: { url: 'https://mcp.example/mcp' },
      three: {},
    });
    const { code, stdout, stderr } = await ute('import', 'mcp.json');
    expect(parse(stdout)).toEqual({
      loaders: [{ type: 'mcp-server', name: 'two', url: 'https://mcp.example/mcp' }],
    });
    expect(stderr).toContain(
      'one: left out: The package npm:no-such-server is not installed: the registry has no',
    );
    expect(stderr).toContain('three: left out: it has neither a command nor a url');
    expect(code).toBe(1);
  });

  it('ute packages installs ahead of the start what loaders and connections name, and lists it', async () => {
    writeFileSync(
      join(dir, 'tools.yaml'),
      `connections: { two: { type: mcp, command: npx, args: [-y, two-programs@1.2.3] , program: one } }
tools: [{ name: look, description: Looks., tool_type: mcp, implementation_config: { connection: two, tool: look } }]
`,
    );
    writeFileSync(
      join(dir, 'gateway.yaml'),
      `auth: { mode: none }
loaders:
  - { type: mcp-server, name: one, package: 'npm:packed-server@1.2.3' }
  - { type: yaml-file, paths: [tools.yaml] }
`,
    );
    const installed = await ute('packages', 'install');
    expect(installed).toMatchObject({ code: 0, stderr: '' });
    expect(installed.stdout.split('\n')).toEqual([
      'npm:packed-server@1.2.3: installed',
      'npm:two-programs@1.2.3: installed',
      '',
    ]);
    const { stdout } = await ute('packages', 'list', '--json');
    expect(JSON.parse(stdout)).toMatchObject([
      { packages: ['npm:packed-server@1.2.3'], scripts: false, contents: ['packed-server@1.2.3'] },
      { packages: ['npm:two-programs@1.2.3'] },
    ]);
    await loopback.close();
    expect(await ute('packages', 'install')).toMatchObject({ code: 0 });
  });
});
