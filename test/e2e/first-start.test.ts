// What a first start depends on: the Node that is there, a build that is made once, and no package that only builds or tests.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join, relative, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { callTool } from '../helpers/rest-client.ts';
import { configured, GatewayProcess } from '../helpers/gateway-process.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PROGRAMS = [
  ['unified-tool-executor', 'dist/bundle/main.js'],
  ['ute', 'dist/cli/main.js'],
] as const;
const EXAMPLES = globSync('examples/*/start.mjs', { cwd: ROOT });
const TOO_OLD =
  /^(?:unified-tool-executor|ute|examples\/[a-z-]+\/start\.mjs) needs Node\.js 22\.19 or newer; this is \d+\.\d+\.\d+ \(\/.*\): .*install it from https:\/\/nodejs\.org\n$/;

let dir: string;

beforeEach(() => (dir = tempDir()));
afterEach(() => removeDir(dir));

/** A real one, of those on this machine. */
function findOldNode(): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin', '/usr/local/bin'];
  return folders
    .map((folder) => join(folder, 'node'))
    .find((file) => {
      if (!existsSync(file)) return false;
      const [major = 0] = spawnSync(file, ['-p', 'process.versions.node'], { encoding: 'utf8' })
        .stdout.split('.')
        .map(Number);
      return major > 0 && major < 22;
    });
}

describe.each(PROGRAMS)('%s on a Node that is too old', (_name, file) => {
  const run = (node: string, ...args: string[]) =>
    spawnSync(node, [...args, join(ROOT, file)], { cwd: dir, encoding: 'utf8' });

  it.each(['20.20.2', '22.18.0', '18.0.0'])('says in one line what it needs: %s', (version) => {
    const pretend = `Object.defineProperty(process.versions, 'node', { value: '${version}' })`;
    const { status, stdout, stderr } = run(process.execPath, '--import', `data:text/javascript,${pretend}`);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(TOO_OLD);
    expect(stderr).toContain(`this is ${version}`);
  });

  const old = findOldNode();
  it.skipIf(old === undefined)('says so on a real one, which cannot read the rest', () => {
    const { status, stdout, stderr } = run(old ?? '');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(TOO_OLD);
  });
});

describe.each(EXAMPLES)('%s on a Node that is too old', (file) => {
  const run = (node: string, ...args: string[]) =>
    spawnSync(node, [...args, file], { cwd: ROOT, encoding: 'utf8' });

  it('says in one line what it needs and how to go on, before it starts anything', () => {
    const pretend = `Object.defineProperty(process.versions, 'node', { value: '20.20.2' })`;
    const { status, stdout, stderr } = run(process.execPath, '--import', `data:text/javascript,${pretend}`);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(TOO_OLD);
    expect(stderr).toContain(`npx node ${file}`);
  });

  const old = findOldNode();
  it.skipIf(old === undefined)('says so on a real one, which cannot read the rest', () => {
    const { status, stdout, stderr } = run(old ?? '');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(TOO_OLD);
  });
});

describe('a build', () => {
  const build = (...args: string[]) =>
    spawnSync(process.execPath, [join(dir, 'scripts/build.js'), ...args], { cwd: dir, encoding: 'utf8' });
  const bundle = () => join(dir, 'dist/bundle/main.js');
  const builtAt = () => statSync(bundle()).mtimeMs;

  /** A program of one line, with the scripts and settings of the real one. */
  beforeEach(() => {
    for (const file of [
      'package.json',
      'package-lock.json',
      'tsconfig.json',
      'tsconfig.build.json',
      'tsconfig.plugin.json',
      'scripts',
    ])
      cpSync(join(ROOT, file), join(dir, file), { recursive: true });
    mkdirSync(join(dir, 'src/app/custom'), { recursive: true });
    writeFileSync(join(dir, 'src/main.ts'), "console.log('one');\n");
    writeFileSync(join(dir, 'src/app/custom/own-plugins.ts'), 'export interface OwnPlugin {}\n');
    symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'));
  });

  it('is made once for its sources: neither a touched file nor a test makes another, every change does', () => {
    expect(build('--before-start')).toMatchObject({ status: 0, stderr: '' });
    const first = builtAt();
    writeFileSync(join(dir, 'src/main.ts'), "console.log('one');\n");
    writeFileSync(join(dir, 'src/main.spec.ts'), '');
    expect(build('--before-start').status).toBe(0);
    expect(build().status).toBe(0);
    expect(builtAt()).toBe(first);
    writeFileSync(join(dir, 'src/main.ts'), "console.log('two');\n");
    expect(build('--before-start').status).toBe(0);
    expect(readFileSync(bundle(), 'utf8')).toContain("'two'".replaceAll("'", '"'));
    writeFileSync(bundle(), '');
    expect(build('--before-start').status).toBe(0);
    expect(readFileSync(bundle(), 'utf8')).toContain('two');
  });

  it('that was broken off, or failed, is made again', () => {
    expect(build().status).toBe(0);
    writeFileSync(join(dir, 'src/main.ts'), "const one: number = 'one';\n");
    expect(build().status).not.toBe(0);
    expect(build('--before-start').status).not.toBe(0);
  });

  it('is not made where there is no compiler: what is there is started, and that there is none is one line', () => {
    removeDir(join(dir, 'node_modules'));
    expect(build('--before-start')).toMatchObject({
      status: 1,
      stderr: 'there is no build here: run `npm ci && npm run build`\n',
    });
    mkdirSync(join(dir, 'dist/bundle'), { recursive: true });
    writeFileSync(bundle(), '');
    expect(build('--before-start')).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(readFileSync(bundle(), 'utf8')).toBe('');
  });
});

/** What `npm ci --omit=dev` leaves, as folders below the root. */
function productionPackages(): readonly string[] {
  const args = ['ls', '--omit=dev', '--all', '--parseable'];
  const { stdout } = spawnSync('npm', args, { cwd: ROOT, encoding: 'utf8' });
  return stdout
    .split('\n')
    .map((path) => relative(ROOT, path))
    .filter((path) => path.startsWith('node_modules/'));
}

it('a tree that was built runs with the packages of `npm ci --omit=dev` alone, and builds nothing', async () => {
  const tree = join(dir, 'tree');
  for (const folder of ['dist', 'config', 'tools', 'packs', 'python', 'proto', 'scripts', 'package.json'])
    cpSync(join(ROOT, folder), join(tree, folder), { recursive: true, filter: (file) => !isKept(file) });
  const packages = productionPackages();
  expect(packages.length).toBeGreaterThan(50);
  for (const path of packages) {
    const filter = (file: string) =>
      !file
        .slice(join(ROOT, path).length + 1)
        .split('/')
        .includes('node_modules');
    cpSync(join(ROOT, path), join(tree, path), { recursive: true, filter, verbatimSymlinks: true });
  }
  expect(existsSync(join(tree, 'node_modules/typescript'))).toBe(false);
  expect(existsSync(join(tree, 'node_modules/node'))).toBe(false);
  const before = statSync(join(tree, 'dist/bundle/main.js')).mtimeMs;
  const prestart = spawnSync('npm', ['run', '--silent', 'prestart'], { cwd: tree, encoding: 'utf8' });
  expect(prestart).toMatchObject({ status: 0, stdout: '' });
  expect(statSync(join(tree, 'dist/bundle/main.js')).mtimeMs).toBe(before);
  const settings = {
    auth: { mode: 'none' },
    demo: { upstream: true },
    executors: { python: { module_paths: [join(tree, 'tools/python')] } },
    loaders: [{ type: 'yaml-file', paths: [join(tree, 'config/tools.yaml')] }],
  };
  const program = join(tree, 'dist/bundle/main.js');
  const gateway = new GatewayProcess(dir, configured(dir, settings), [], program);
  try {
    const { rest } = await gateway.ready();
    const call = (tool: string, args: Record<string, unknown>) =>
      callTool({ url: rest, key: '' }, tool, args);
    // One in a thread of its own, one over HTTP.
    expect(await call('get_weather', { city: 'Berlin' })).toMatchObject({ status: 200, body: { ok: true } });
    expect(await call('echo', { text: 'Ada' })).toMatchObject({ status: 200, body: { ok: true } });
    const kept = () =>
      readdirSync(join(tree, 'dist/bundle'), { recursive: true, encoding: 'utf8' }).filter(isKept);
    // The whole program, for later starts.
    await eventually(() => expect(kept().join(' ')).toMatch(/serve-[\w-]+\.cjs(?: |$)/));
    gateway.signal('SIGTERM');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
  } finally {
    await gateway.end();
  }
}, 240_000);

const isKept = (file: string) => file.includes('.compile-cache');
