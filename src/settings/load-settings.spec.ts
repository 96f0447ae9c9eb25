// Settings: defaults, the file over them, the environment over both, and everything wrong at once.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSettings, type Environment } from './load-settings.ts';
import { SettingsError } from './problems/settings-error.ts';

let dir: string;
let file: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ute-settings-'));
  file = join(dir, 'gateway.yaml');
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

function load(text: string, env: Environment = {}) {
  writeFileSync(file, text);
  return loadSettings({ UTE_CONFIG: file, ...env }, dir);
}

function problemsOf(text: string, env: Environment = {}) {
  try {
    load(text, env);
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
  return [];
}

describe('loadSettings', () => {
  it('takes the collector from the variable that OpenTelemetry has for it, and leaves other variables alone', () => {
    const endpoint = 'http://collector:4318';
    const { telemetry } = load('', {
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_SERVICE_NAME: 'mine',
      HOME: '/',
    });
    expect(telemetry.otlp_endpoint).toBe(endpoint);
    expect(load('').telemetry.otlp_endpoint).toBeUndefined();
    expect(problemsOf('', { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' })).toMatchObject([
      { message: expect.stringContaining('http or https URL') },
    ]);
  });

  it('needs no file: the defaults are closed to the outside and ask for keys', () => {
    const settings = loadSettings({}, dir);
    expect(settings).toMatchObject({
      host: '127.0.0.1',
      http: { port: 8080 },
      grpc: { port: 50_051 },
      auth: { mode: 'api_keys', keys: [] },
      approvals: { allow_self_approval: false, require_reason: false, groups: {} },
      configDir: join(dir, 'config'),
      data_dir: join(dir, 'data'),
    });
  });

  it('a file that UTE_CONFIG names must be there', () => {
    expect(() => loadSettings({ UTE_CONFIG: join(dir, 'none.yaml') }, dir)).toThrow(
      /none\.yaml.*cannot be read/,
    );
  });

  it('the file lies over the defaults, the environment over the file', () => {
    const settings = load('http: { port: 1000, docs: false }\nlog: { level: warn }\n', {
      UTE_HTTP_PORT: '2000',
    });
    expect(settings.http).toEqual({ port: 2000, docs: false });
    expect(settings.log.level).toBe('warn');
    expect(settings.grpc.port).toBe(50_051);
  });

  it("a key of all tenants is refused, with the reason: tenant '*' stands for nobody", () => {
    const key = (more: string) =>
      `auth: { keys: [{ id: abcdefgh, secret_sha256: '${'0'.repeat(64)}', roles: [agent], ${more} }] }\n`;
    for (const tenant of ['*', 'acme*', ' * ', '**'])
      expect(problemsOf(key(`tenant: '${tenant}'`))).toEqual([
        expect.objectContaining({
          path: 'auth.keys.0.tenant',
          message: 'must name one tenant: "*" stands for nobody here; declare a key for each',
        }),
      ]);
    expect(problemsOf(key("tenant: acme, user: '*'"))).toEqual([
      expect.objectContaining({ path: 'auth.keys.0.user', message: expect.stringContaining('one user') }),
    ]);
    expect(problemsOf(key("tenant: acme, agents: ['*']"))).toEqual([]);
  });

  it.each([
    [
      'a tab',
      'http:\n\tport: 1\n  docs: true\n',
      2,
      1,
      'not valid YAML: a tab indents this line; indent with spaces',
    ],
    [
      'a key too deep',
      'data_dir: x\n  http:\n    port: 1\n',
      2,
      3,
      'not valid YAML: wrong indentation: this line is deeper than the one before it, which has its value already',
    ],
    [
      'keys that are not deep enough',
      'http:\nport: 1\ndocs: true\nhost: ::1\n',
      2,
      1,
      'wrong indentation: "http" holds nothing; if "port" belongs to it, it must be deeper, and so must "docs"',
    ],
    [
      'an alias without its anchor',
      'http: { port: 1 }\ngrpc: *http\n',
      2,
      7,
      'cannot be read: there is no anchor "&http" before the alias "*http"',
    ],
    [
      'aliases that repeat too much',
      `a: &a [1, 2, 3, 4, 5, 6, 7, 8, 9]\nb: &b [${'*a,'.repeat(40)}]\nc: [${'*b,'.repeat(90)}]\n`,
      1,
      1,
      'cannot be read: its aliases repeat too much',
    ],
  ])('one mistake is told once: %s', (_mistake, text, line, column, message) => {
    expect(problemsOf(text)).toEqual([expect.objectContaining({ file, line, column, message })]);
  });

  it('no two doors share a port, unless any will do', () => {
    expect(problemsOf('http: { port: 9000 }\n', { UTE_METRICS_PORT: '9000' })).toEqual([
      {
        file: 'environment UTE_METRICS_PORT',
        path: 'metrics.port',
        message: '9000 is the port of http.port already',
      },
    ]);
    expect(problemsOf('http: { port: 0 }\ngrpc: { port: 0 }\nmetrics: { port: 0 }\n')).toEqual([]);
  });

  it('UTE_TOOLS stands in for the loaders', () => {
    const { loaders } = load('loaders: [{ type: other }]\n', { UTE_TOOLS: 'a.yaml, folder' });
    expect(loaders).toEqual([{ type: 'yaml-file', paths: ['a.yaml', 'folder'] }]);
  });

  it('paths of the file start at its folder', () => {
    const { tls, custom_extensions: custom } = load(
      'tls: { cert_file: cert.pem, key_file: /keys/key.pem }\ncustom_extensions: [{ path: ./own.js }]\n',
    );
    expect(tls).toMatchObject({ cert_file: join(dir, 'cert.pem'), key_file: '/keys/key.pem' });
    expect(custom).toEqual([{ path: join(dir, 'own.js') }]);
  });

  it('tells every problem at once, each with its place', () => {
    const problems = problemsOf('http:\n  port: 70000\ngrpc:\n  reflection: maybe\n', {
      UTE_METRICS_PORT: 'many',
    });
    expect(problems).toHaveLength(3);
    expect(problems).toContainEqual(expect.objectContaining({ file, line: 2, column: 3, path: 'http.port' }));
    expect(problems).toContainEqual(
      expect.objectContaining({ file, line: 4, column: 3, path: 'grpc.reflection' }),
    );
    expect(problems.some((problem) => JSON.stringify(problem).includes('UTE_METRICS_PORT'))).toBe(true);
  });

  it('guesses what a misspelt key or variable was meant to be', () => {
    expect(problemsOf('http:\n  prot: 1\n')).toEqual([
      { file, line: 2, column: 3, path: 'http.prot', message: 'unknown key "prot"; did you mean "port"?' },
    ]);
    expect(problemsOf('', { UTE_HTTP_PROT: '1' })).toEqual([
      { file: 'environment', path: 'UTE_HTTP_PROT', message: 'no such setting; did you mean UTE_HTTP_PORT?' },
    ]);
  });

  it('a value of the environment that does not fit names its variable', () => {
    expect(problemsOf('http:\n  port: 1\n', { UTE_HTTP_PORT: '70000' })).toEqual([
      expect.objectContaining({ file: 'environment UTE_HTTP_PORT', path: 'http.port' }),
    ]);
  });

  it('YAML that cannot be read, a duplicate key and a list instead of a map are told with their place', () => {
    expect(problemsOf('http: {\n')[0]).toMatchObject({ file, line: expect.any(Number) });
    expect(problemsOf('host: a\nhost: b\n')[0]).toMatchObject({ file, line: 2, column: 1 });
    expect(problemsOf('- host\n')[0]).toMatchObject({
      file,
      line: 1,
      column: 1,
      message: 'expected a map of settings',
    });
  });

  it.each(['0.0.0.0', '::', '192.168.1.5', 'gateway.internal'])(
    'refuses to go without authentication on %s',
    (host) => {
      expect(problemsOf(`host: '${host}'\nauth: { mode: none }\n`)).toEqual([
        expect.objectContaining({ path: 'auth.mode' }),
      ]);
    },
  );

  it.each(['127.0.0.1', '::1', 'localhost'])('goes without authentication on %s when told so', (host) => {
    expect(load(`host: '${host}'\n`, { UTE_AUTH: 'none' }).auth.mode).toBe('none');
  });

  it('in production, does not go without Redis unless told so', () => {
    const production = { NODE_ENV: 'production' };
    expect(problemsOf('', production)).toEqual([
      { file, path: 'redis.url', message: expect.stringContaining('UTE_REDIS_REQUIRED=false') },
    ]);
    expect(problemsOf('redis: { required: true }\n')).toHaveLength(1);
    expect(load('', { ...production, UTE_REDIS_URL: 'redis://127.0.0.1' }).redis.url).toBeDefined();
    expect(load('', { ...production, UTE_REDIS_REQUIRED: 'false' }).redis.url).toBeUndefined();
    expect(load('redis: { required: false }\n', production).redis.url).toBeUndefined();
  });

  it('reads a secret from the file that its variable with _FILE names, and tells when it cannot', () => {
    const secret = join(dir, 'url');
    writeFileSync(secret, 'postgres://ute:s3cret@db/ute\n');
    expect(load('', { UTE_DATABASE_URL_FILE: secret }).database.url).toBe('postgres://ute:s3cret@db/ute');
    expect(problemsOf('', { UTE_DATABASE_URL_FILE: join(dir, 'nothing') })).toMatchObject([
      { path: 'UTE_DATABASE_URL_FILE', message: expect.stringContaining('cannot be read') as string },
    ]);
    expect(problemsOf('', { UTE_REDIS_URL: 'redis://a', UTE_REDIS_URL_FILE: secret })).toMatchObject([
      { path: 'UTE_REDIS_URL_FILE', message: 'give this or UTE_REDIS_URL, not both' },
    ]);
  });

  it('is frozen to the bottom', () => {
    const settings = load('auth: { roles: { clerk: [tools:read] } }\n');
    expect(() => (settings.http as { port: number }).port++).toThrow(TypeError);
    expect(() => (settings.auth.roles['clerk'] as string[]).push('*')).toThrow(TypeError);
  });

  it('a role that is nowhere is refused where it stands: nobody has it', () => {
    const sha = 'a'.repeat(64);
    const text = `auth:
  roles: { accountant: [approvals:decide] }
  keys:
    - { id: abcd1234, secret_sha256: ${sha}, tenant: acme, roles: [agent, constructor] }
  issuers:
    - issuer: https://id.example
      audience: ute
      tenants: [acme]
      roles: { 'group.clerks': [clerk] }
      default_roles: [agent, gost]
approvals:
  groups:
    finance: { roles: [accountant, admin] }
    safety: { users: [ann], roles: [acountant] }
`;
    const known = 'it is none of admin, agent, platform_admin, accountant';
    expect(problemsOf(text)).toEqual([
      {
        file,
        line: 4,
        column: 133,
        path: 'auth.keys.0.roles.1',
        message: `"constructor" is no role: ${known}`,
      },
      {
        file,
        line: 10,
        column: 30,
        path: 'auth.issuers.0.default_roles.1',
        message: `"gost" is no role: ${known}`,
      },
      {
        file,
        line: 9,
        column: 33,
        path: 'auth.issuers.0.roles.group.clerks.0',
        message: `"clerk" is no role: ${known}`,
      },
      {
        file,
        line: 14,
        column: 37,
        path: 'approvals.groups.safety.roles.0',
        message: `"acountant" is no role: ${known}`,
      },
    ]);
  });

  it('settings that contradict each other are told at the one to change: its line, its variable, or the file', () => {
    expect(problemsOf('grpc: { port: 8080 }\nmetrics:\n  port: 8080\n')).toMatchObject([
      { file, line: 1, column: 9, path: 'grpc.port' },
      { file, line: 3, column: 3, path: 'metrics.port' },
    ]);
    expect(problemsOf('', { UTE_ROLE: 'worker' })).toMatchObject([
      { file: 'environment UTE_ROLE', path: 'role' },
    ]);
    expect(problemsOf('redis: { mode: sentinel, nodes: [] }\n')).toMatchObject([
      { file, line: 1, path: 'redis.master_name' },
    ]);
  });

  it('a contradiction is told beside what is wrong elsewhere, and none with a section that is wrong in itself', () => {
    const production = { NODE_ENV: 'production' };
    expect(problemsOf('host: 7\nrole: worker\n', production)).toMatchObject([
      { path: 'host' },
      { path: 'role' },
      { path: 'redis.url' },
    ]);
    expect(problemsOf('redis: { url: 7 }\ndatabase: { url: 7 }\nrole: worker\n', production)).toMatchObject([
      { path: 'redis.url' },
      { path: 'database.url' },
    ]);
    expect(problemsOf('role: worker\n', { UTE_DATABASE_URL_FILE: join(dir, 'nothing') })).toMatchObject([
      { path: 'UTE_DATABASE_URL_FILE' },
    ]);
    expect(problemsOf('http: {\n', production)).toHaveLength(1);
  });

  it('gives a log of the error neither secrets nor keys', () => {
    const key = `{ id: abcd1234, secret_sha256: ${'a'.repeat(64)}, tenant: acme, roles: [agent] }`;
    writeFileSync(file, `webhooks: { secret: whsec_hunter2 }\nauth: { keys: [${key}] }\nhost: 7\n`);
    let refused: unknown;
    try {
      loadSettings({ UTE_CONFIG: file }, dir);
    } catch (error) {
      refused = error;
    }
    expect(refused).toMatchObject({ refused: { values: { host: 7 } }, auth: { keys: [{ id: 'abcd1234' }] } });
    const logged = Object.entries(refused as SettingsError);
    expect(logged.map(([name]) => name).toSorted()).toEqual(['name', 'problems']);
    expect(JSON.stringify(logged)).not.toMatch(/hunter2|abcd1234/);
  });

  it.each(['api', 'worker'])('the role %s is for a database that others reach', (role) => {
    const shared = `database: { url: 'postgres://host/ute' }\n`;
    expect(load(shared, { UTE_ROLE: role }).role).toBe(role);
    expect(problemsOf('', { UTE_ROLE: role })).toEqual([
      expect.objectContaining({ path: 'role', message: expect.stringContaining('database.url') }),
    ]);
  });

  it('a role that is not there is refused, with those that are', () => {
    expect(problemsOf('role: scheduler\n')).toEqual([
      expect.objectContaining({ path: 'role', line: 1, message: expect.stringContaining('"worker"') }),
    ]);
  });
});
