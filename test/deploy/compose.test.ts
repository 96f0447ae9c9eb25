// The compose file: what it names is there, its secrets are those that are made, and the gateway takes its settings with them.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';
import { PROGRAMS } from './programs/build.js';

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'deploy/docker/compose');

interface ComposeService {
  readonly image?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly privileged?: boolean;
  readonly read_only?: boolean;
  readonly ports?: readonly string[];
  readonly stop_grace_period?: string;
}

const read = (name: string): unknown => parse(readFileSync(join(FOLDER, name), 'utf8'));
const file = read('compose.yaml') as {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, null>>;
};
const services = Object.entries(file.services);

describe('the compose file', () => {
  let dir: string;

  beforeAll(() => {
    dir = tempDir();
    cpSync(join(FOLDER, 'make-secrets.sh'), join(dir, 'make-secrets.sh'));
    execFileSync('sh', [join(dir, 'make-secrets.sh')]);
  });

  afterAll(() => removeDir(dir));

  it('the secrets that it names are those that are made, once, for nobody else on the machine', () => {
    const paths = Object.values(file.secrets).map((secret) => join(dir, secret.file));
    const texts = paths.map((path) => readFileSync(path, 'utf8'));
    execFileSync('sh', [join(dir, 'make-secrets.sh')]);
    expect(paths.map((path) => readFileSync(path, 'utf8'))).toEqual(texts);
    expect(statSync(join(dir, 'secrets')).mode & 0o077).toBe(0);
  });

  it('the gateway takes its settings, with its secrets as files', () => {
    const { environment = {} } = file.services['gateway'] ?? {};
    const env = Object.fromEntries(
      Object.entries(environment).map(([name, value]) => [
        name,
        value.replace('/run/secrets/', join(dir, 'secrets/')),
      ]),
    );
    const config = join(FOLDER, 'gateway/gateway.yaml');
    const { PATH } = process.env;
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [join(ROOT, 'dist/cli/main.js'), 'validate', '--config', config],
      { cwd: dir, env: { PATH, NODE_ENV: 'production', ...env }, encoding: 'utf8' },
    );
    expect(stdout + stderr).toBe('ok: 1 tool\n');
  });

  it('is read by the library that docker compose reads it with, which refuses what it does not know', () => {
    const readAsCompose = (text: string) => {
      const path = join(dir, 'compose.yaml');
      writeFileSync(path, text);
      const { status, stdout, stderr } = spawnSync(join(PROGRAMS, 'compose'), [path], { encoding: 'utf8' });
      return { status, said: stdout + stderr };
    };
    const text = readFileSync(join(FOLDER, 'compose.yaml'), 'utf8');
    const whole = readAsCompose(text);
    expect(whole).toMatchObject({ status: 0 });
    const project = parse(whole.said) as { readonly services: object };
    expect(Object.keys(project.services)).toEqual(services.map(([name]) => name).toSorted());
    for (const [from, to, problem] of [
      ['stop_grace_period', 'stop_grace', 'services.gateway.stop_grace'],
      ['condition: service_healthy', 'condition: healthy', 'services.gateway.depends_on'],
    ] as const)
      expect(readAsCompose(text.replace(from, to))).toEqual({
        status: 1,
        said: expect.stringContaining(problem),
      });
  });

  it('mounts only what is there, and volumes and secrets that it declares', () => {
    const mounted = services.flatMap(([, { volumes = [] }]) =>
      volumes.map((volume) => volume.split(':')[0] ?? ''),
    );
    const folders = mounted.filter((path) => path.startsWith('.'));
    expect(folders.filter((path) => !existsSync(resolve(FOLDER, path)))).toEqual([]);
    const named = services.flatMap(([, { secrets = [] }]) => secrets);
    expect(named.filter((name) => !(name in file.secrets))).toEqual([]);
    const kept = mounted.filter((path) => !/^[./]/.test(path));
    expect(kept.toSorted()).toEqual(Object.keys(file.volumes).toSorted());
  });

  it('the gateway sends its traces to the collector that is there, and nothing that this one takes in no pipeline', () => {
    const settings = read('gateway/gateway.yaml') as {
      readonly telemetry: Readonly<Record<string, unknown>>;
    };
    const collector = read('collector.yaml') as {
      readonly receivers: {
        readonly otlp: { readonly protocols: { readonly http: { readonly endpoint: string } } };
      };
      readonly service: { readonly pipelines: object };
    };
    const { otlp_endpoint: endpoint, ...signals } = settings.telemetry;
    const { hostname, port } = new URL(String(endpoint));
    expect(file.services).toHaveProperty(hostname);
    expect(collector.receivers.otlp.protocols.http.endpoint).toBe(`0.0.0.0:${port}`);
    const sent = ['traces', 'metrics', 'logs'].filter((signal) => signals[signal] !== false);
    expect(Object.keys(collector.service.pipelines)).toEqual(sent);
  });

  it('opens ports to this machine alone, and gives nobody more rights', () => {
    for (const [, { ports = [], privileged }] of services) {
      expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
      expect(privileged).toBeUndefined();
    }
    expect(file.services['gateway']).toMatchObject({ read_only: true, stop_grace_period: '45s' });
  });
});
