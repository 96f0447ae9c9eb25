// The Helm chart: what every set of values renders is what Kubernetes takes and what the gateway itself takes; what cannot work
// is refused in words; and the commands of `helm test` are true of a gateway that runs.
import { spawn, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { SECRETS as GATEWAY_SECRETS } from '../../src/settings/environment.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import {
  conform,
  HELMS,
  lint,
  needPrograms,
  notesOf,
  objectsOf,
  template,
  type KubernetesObject,
  type Values,
} from './chart-kit.ts';
import { SECRETS, VARIANTS, WEBHOOK_SECRET } from './values-variants.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const CHART = join(ROOT, 'deploy/helm/unified-tool-executor');

beforeAll(needPrograms);

const only = (objects: readonly KubernetesObject[], kind: string) =>
  objects.filter((object) => object.kind === kind);
const workloads = (objects: readonly KubernetesObject[]) =>
  objects.filter(({ kind }) => kind === 'StatefulSet' || kind === 'Deployment');
const podsOf = (objects: readonly KubernetesObject[]) => [
  ...[...workloads(objects), ...only(objects, 'Job')].map(({ spec }) => spec.template.spec),
  ...only(objects, 'Pod').map(({ spec }) => spec),
];
const gatewayOf = (object: KubernetesObject | undefined) => object?.['spec'].template.spec.containers[0];
const envOf = (container: { env: readonly { name: string; value: string }[] }) =>
  Object.fromEntries(container.env.map(({ name, value }) => [name, value]));

describe.each(Object.entries(VARIANTS))('values: %s', (_, values) => {
  it.each(HELMS)('%s finds nothing to say', (helm) => {
    expect(lint(helm, values)).toMatchObject({
      exitCode: 0,
      output: expect.stringContaining('0 chart(s) failed'),
    });
  });

  it('Helm 3 and 4 render the same, and Kubernetes takes it', () => {
    const [three, four] = HELMS.map((helm) => template(helm, values).stdout);
    const sorted = (text = '') =>
      text
        .split(/^---$/m)
        .map((part) => part.trim())
        .toSorted();
    expect(sorted(three)).toEqual(sorted(four));
    expect(conform(four ?? '')).toEqual({ exitCode: 0, output: expect.any(String) });
  });

  it('the gateway takes its settings, in every pod that has them', () => {
    const objects = objectsOf(values);
    const settings = only(objects, 'ConfigMap').filter(({ data }) => 'gateway.yaml' in data);
    const tools = only(objects, 'ConfigMap').find(({ data }) => 'tools.yaml' in data);
    const [release, ...hooks] = new Set(settings.map(({ data }) => data['gateway.yaml'] as string));
    // A hook has settings of its own: the same.
    expect(hooks).toEqual([]);
    const containers = [...workloads(objects), ...only(objects, 'Job')].map(gatewayOf);
    const answers = containers.map((container) =>
      validated(release ?? '', tools?.['data'], container, values),
    );
    expect(new Set(answers)).toEqual(new Set(['ok: 0 tools\n']));
  });

  it('no pod has more rights than it needs', () => {
    for (const pod of podsOf(objectsOf(values))) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 10_001,
          seccompProfile: { type: 'RuntimeDefault' },
        },
      });
      for (const container of pod.containers) {
        expect(container.securityContext).toMatchObject({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(container.securityContext.privileged).toBeUndefined();
      }
    }
  });
});

/** What `ute validate` says of a rendered gateway.yaml with the environment of the pod, whose files stand in a folder here. */
function validated(
  gatewayYaml: string,
  tools: Values | undefined,
  container: Parameters<typeof envOf>[0],
  { secrets }: Values,
): string {
  const dir = tempDir();
  try {
    mkdirSync(join(dir, 'secrets'));
    const given: Readonly<Record<string, string>> =
      (secrets as { values?: Record<string, string> } | undefined)?.values ?? SECRETS.values;
    const env = envOf(container);
    for (const [name, value] of Object.entries(env)) {
      if (!value?.startsWith('/run/secrets/ute/')) continue;
      const key = value.slice('/run/secrets/ute/'.length);
      env[name] = join(dir, 'secrets', key);
      const secret = key.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
      writeFileSync(env[name], given[secret] ?? SECRETS.values.databaseUrl);
    }
    // The only file that gateway.yaml itself names: of a key that signs.
    for (const [, name = ''] of gatewayYaml.matchAll(/\/run\/secrets\/ute\/(\S+)/g)) {
      const { privateKey } = generateKeyPairSync('ed25519');
      writeFileSync(join(dir, 'secrets', name), privateKey.export({ type: 'pkcs8', format: 'pem' }), {
        mode: 0o600,
      });
    }
    const moved = gatewayYaml.replaceAll('/run/secrets/ute/', join(dir, 'secrets/'));
    writeFileSync(join(dir, 'gateway.yaml'), moved);
    for (const [name, text] of Object.entries(tools ?? { 'tools.yaml': 'tools: []\n' }))
      writeFileSync(join(dir, name), String(text));
    const { PATH } = process.env;
    const { stdout, stderr } = spawnSync(process.execPath, [join(ROOT, 'dist/cli/main.js'), 'validate'], {
      cwd: dir,
      env: { ...env, PATH, UTE_CONFIG: join(dir, 'gateway.yaml'), UTE_DATA_DIR: join(dir, 'data') },
      encoding: 'utf8',
    });
    return stdout + stderr;
  } finally {
    removeDir(dir);
  }
}

describe('the chart', () => {
  it('has the version of the package', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    expect(parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8'))).toMatchObject({ appVersion: version });
  });

  it('values.yaml is what its schema says, and names every value that there is', () => {
    const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')) as {
      properties: object;
    };
    const values = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8'), { merge: true }) as object;
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
    expect({ valid: validate(values), errors: validate.errors }).toEqual({ valid: true, errors: null });
    expect(Object.keys(schema.properties).filter((name) => !(name in values))).toEqual(['global']);
  });

  it('gives the gateway every secret that it takes from a file', () => {
    const helpers = readFileSync(join(CHART, 'templates/_helpers.tpl'), 'utf8');
    expect([...GATEWAY_SECRETS].filter((name) => !helpers.includes(`"${name}_FILE"`))).toEqual([]);
  });

  it('each role has its pods, and only those that serve are behind the service', () => {
    const objects = objectsOf(VARIANTS['api and workers apart, scaled by what is in flight and waits'] ?? {});
    const labels = Object.fromEntries(
      workloads(objects).map(({ spec }) => [
        envOf(gatewayOf({ spec } as never)).UTE_ROLE,
        spec.template.metadata.labels,
      ]),
    );
    expect(Object.keys(labels)).toEqual(['api', 'worker']);
    const [service, grpc, metrics] = only(objects, 'Service').map(
      ({ spec }) => spec.selector as Record<string, string>,
    );
    const isBehind = (selector: Record<string, string> = {}, role = '') =>
      Object.entries(selector).every(([name, value]) => labels[role][name] === value);
    for (const selector of [service, grpc])
      expect([isBehind(selector, 'api'), isBehind(selector, 'worker')]).toEqual([true, false]);
    expect([isBehind(metrics, 'api'), isBehind(metrics, 'worker')]).toEqual([true, true]);
  });

  it('scales those that serve by calls in flight, and workers by calls that wait', () => {
    const scalers = only(
      objectsOf(VARIANTS['api and workers apart, scaled by what is in flight and waits'] ?? {}),
      'HorizontalPodAutoscaler',
    );
    const metrics = scalers.map(({ spec }) => [
      spec.scaleTargetRef.name,
      ...spec.metrics.map((each: { type: string }) => each.type),
    ]);
    expect(metrics).toEqual([
      ['ute-unified-tool-executor-api', 'Resource', 'Pods'],
      ['ute-unified-tool-executor-worker', 'External'],
    ]);
  });

  it.each([0, 30, 120])('a pod is not killed while it drains for %i s', (drainSeconds) => {
    const [workload] = workloads(
      objectsOf({ secrets: SECRETS, shutdown: { drainSeconds, preStopSeconds: 7 } }),
    );
    const { terminationGracePeriodSeconds } = workload?.['spec'].template.spec ?? {};
    const drained = Number(envOf(gatewayOf(workload)).UTE_DRAIN_MS) / 1_000;
    expect(drained).toBe(drainSeconds);
    // What a gateway that was told to stop takes at most: to drain, and 5 s.
    expect(terminationGracePeriodSeconds).toBeGreaterThan(7 + drained + 5);
  });

  it('a change of settings restarts pods, one of keys or tools does not', () => {
    const checksum = (config: object, tools = 'tools: []') => {
      const [workload] = workloads(
        objectsOf({ secrets: SECRETS, config, tools: { files: { 'tools.yaml': tools } } }),
      );
      return workload?.['spec'].template.metadata.annotations['checksum/config'];
    };
    const key = { id: 'abcd1234', secret_sha256: 'a'.repeat(64), tenant: 'acme', roles: ['agent'] };
    const before = checksum({ auth: { keys: [key] } });
    expect(checksum({ auth: { keys: [key, { ...key, id: 'abcd1235' }] } })).toBe(before);
    expect(checksum({ auth: { keys: [key] } }, 'tools: [] # more')).toBe(before);
    expect(checksum({ auth: { keys: [key] }, log: { level: 'warn' } })).not.toBe(before);
  });

  it('the migration runs before the release, with settings and secrets of its own', () => {
    const hooks = objectsOf({ secrets: SECRETS }).filter(({ metadata }) =>
      metadata.annotations?.['helm.sh/hook']?.startsWith('pre-install'),
    );
    expect(hooks.map(({ kind }) => kind).toSorted()).toEqual(['ConfigMap', 'Job', 'Secret']);
    const job = hooks.find(({ kind }) => kind === 'Job');
    const named = JSON.stringify(job?.['spec'].template.spec.volumes);
    for (const { metadata } of hooks.filter(({ kind }) => kind !== 'Job'))
      expect(named).toContain(metadata.name);
    expect(gatewayOf(job).args).toEqual(['ute', 'migrate']);
  });

  it('nothing of a secret is in a ConfigMap or in the environment', () => {
    const objects = objectsOf(VARIANTS['every secret and its own settings'] ?? {});
    const others = JSON.stringify(objects.filter(({ kind }) => kind !== 'Secret'));
    for (const secret of [
      'ute:secret@',
      'owner:secret@',
      'replica:secret@',
      'of-the-sentinels',
      'whsec_',
      'PRIVATE KEY',
      'first:',
    ])
      expect(others).not.toContain(secret);
  });

  it('lets pods reach the stores, sentinels and PgBouncer among them', () => {
    const [policy] = only(objectsOf({ secrets: SECRETS }), 'NetworkPolicy');
    const outside = policy?.['spec'].egress.find(({ to }: { to?: object[] }) => to !== undefined);
    const ports = outside.ports.map(({ port }: { port: number }) => port);
    expect(ports).toEqual(expect.arrayContaining([5432, 6432, 6379, 26_379]));
  });

  it('link-local addresses are never reached, whatever ports are open', () => {
    const [policy] = only(objectsOf({ secrets: SECRETS }), 'NetworkPolicy');
    const outside = policy?.['spec'].egress.find(({ to }: { to?: object[] }) => to !== undefined);
    expect(outside.to[0].ipBlock).toEqual({ cidr: '0.0.0.0/0', except: ['169.254.0.0/16'] });
  });
});

it('brings the rules and dashboards of deploy/, every one as it is there', () => {
  const objects = objectsOf(VARIANTS['watched by the Prometheus operator'] ?? {});
  const rules = only(objects, 'PrometheusRule').map(({ spec }) => spec as unknown);
  const files = (folder: string, ending: string) =>
    readdirSync(join(ROOT, 'deploy', folder)).filter((name) => name.endsWith(ending));
  const inDeploy = (folder: string, name: string) => readFileSync(join(ROOT, 'deploy', folder, name), 'utf8');
  expect(rules).toEqual(
    files('prometheus', '.yaml').map((name) => parse(inDeploy('prometheus', name)) as unknown),
  );
  const shown = only(objects, 'ConfigMap').filter(
    ({ metadata }) => metadata.labels?.['grafana_dashboard'] === '1',
  );
  const dashboards = Object.fromEntries(
    shown.flatMap(({ data }) => Object.entries(data as Record<string, string>)),
  );
  expect(Object.keys(dashboards)).toEqual(files('grafana', '.json'));
  for (const [name, text] of Object.entries(dashboards)) {
    expect(JSON.parse(text)).toEqual(JSON.parse(inDeploy('grafana', name)));
    // What a ConfigMap may hold.
    expect(Buffer.byteLength(text)).toBeLessThan(1 << 20);
  }
});

it('the notes say how to ask whether it is well, and what is left open', () => {
  const notes = notesOf({ secrets: SECRETS, journal: { persistent: false } });
  for (const part of [
    'helm test ute --namespace tools',
    'There is no key',
    'audit checkpoints',
    'are lost with their pod',
  ])
    expect(notes).toContain(part);
  const closed = notesOf(VARIANTS['every secret and its own settings'] ?? {});
  expect(closed).toContain('helm test');
  expect(closed).not.toMatch(/no key|checkpoints|lost/);
});

it('whoever may call and scrape, the pod of helm test may, too', () => {
  const objects = objectsOf(VARIANTS['callers, scrapers and other ports'] ?? {});
  const [pod] = only(objects, 'Pod');
  const [policy] = only(objects, 'NetworkPolicy');
  for (const { from } of policy?.['spec'].ingress ?? []) {
    expect(from).toHaveLength(2);
    expect(from).toContainEqual({ podSelector: { matchLabels: pod?.metadata.labels } });
  }
});

describe('what cannot work is refused in words', () => {
  it.each<[string, Values, RegExp]>([
    ['no secrets', {}, /secrets\.values\.redisUrl is needed/],
    [
      'no keys for secrets of agents',
      { secrets: { values: { ...SECRETS.values, secretsKeys: '' } } },
      /secretsKeys is needed/,
    ],
    [
      'nobody serves',
      { secrets: SECRETS, roles: { all: { enabled: false }, worker: { enabled: true } } },
      /none of those enabled serves/,
    ],
    [
      'nobody runs what is accepted',
      { secrets: SECRETS, roles: { all: { enabled: false }, api: { enabled: true } } },
      /runs accepted calls/,
    ],
    ['two processes with one embedded database', { stores: 'embedded' }, /for one process/],
    [
      'bubblewrap without a profile',
      { secrets: SECRETS, sandbox: { bubblewrap: true } },
      /seccompProfile is needed/,
    ],
    [
      'certificates of clients without TLS',
      { secrets: SECRETS, tls: { requireClientCertificate: true } },
      /tls\.existingSecret is needed/,
    ],
    [
      'a setting that the chart sets',
      { secrets: SECRETS, config: { host: '127.0.0.1' } },
      /config\.host: the chart sets it/,
    ],
    [
      'a port in the settings',
      { secrets: SECRETS, config: { http: { port: 80 } } },
      /config\.http\.port: the chart sets it/,
    ],
    [
      'a secret in the settings',
      { secrets: SECRETS, config: { redis: { url: 'redis://x' } } },
      /config\.redis\.url: a secret does not belong into a ConfigMap/,
    ],
    [
      'the password of the sentinels in the settings',
      { secrets: SECRETS, config: { redis: { sentinel_password: 'sentinels' } } },
      /config\.redis\.sentinel_password: a secret does not belong into a ConfigMap; see secrets\.values\.redisSentinelPassword/,
    ],
    [
      'the URL of a read replica in the settings',
      { secrets: SECRETS, config: { database: { replica_url: 'postgres://ute:secret@replica/ute' } } },
      /config\.database\.replica_url: a secret does not belong into a ConfigMap; see secrets\.values\.databaseReplicaUrl/,
    ],
    [
      'one that lies deeper',
      {
        secrets: SECRETS,
        config: { audit: { checkpoint_webhook: { url: 'https://h', secret: WEBHOOK_SECRET } } },
      },
      /config\.audit\.checkpoint_webhook\.secret: a secret does not belong/,
    ],
    ['a setting that is not there', { secrets: SECRETS, config: { limit: {} } }, /limit/],
    [
      'a setting that is wrong',
      { secrets: SECRETS, config: { limits: { max_inflight_calls: 'many' } } },
      /max_inflight_calls/,
    ],
    ['a value that is not there', { secrets: SECRETS, replicas: 3 }, /replicas/],
    [
      'an autoscaler without a metric',
      { secrets: SECRETS, roles: { all: { autoscaling: { enabled: true, cpu: null } } } },
      /set cpu, inflightCalls or queuedCalls/,
    ],
  ])('%s', (_, values, words) => {
    for (const helm of HELMS) {
      const { exitCode, output } = template(helm, values);
      expect({ exitCode, output }).toEqual({ exitCode: 1, output: expect.stringMatching(words) });
    }
  });
});

describe('the commands of helm test', () => {
  let gateway: RunningGateway;
  let containers: readonly { name: string; args: readonly string[] }[];
  beforeAll(async () => {
    gateway = await startGateway({ tools: ['config/tools.yaml'] });
    const [pod] = only(objectsOf(VARIANTS['every secret and its own settings'] ?? {}), 'Pod');
    containers = pod?.['spec'].containers;
  });
  afterAll(() => gateway?.stop());

  /** As the image runs them: `ute` and `node` are on its PATH. */
  async function run(name: string, over: Readonly<Record<string, string>> = {}) {
    const [program = '', ...args] = containers.find((each) => each.name === name)?.args ?? [];
    const command = program === 'ute' ? [join(ROOT, 'dist/cli/main.js'), ...args] : args;
    const env = {
      PATH: process.env['PATH'] ?? '',
      METRICS_URL: gateway.service.metricsUrl.replace('/metrics', ''),
      UTE_URL: gateway.url,
      UTE_API_KEY: gateway.keys.agent.text,
      ...over,
    };
    const child = spawn(process.execPath, command, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    const exitCode = await new Promise((done) => child.once('close', done));
    return { exitCode, output };
  }

  it('succeed on a gateway that is well', async () => {
    expect(containers.map(({ name }) => name)).toEqual(['probes', 'tools', 'call']);
    expect(await run('probes')).toEqual({ exitCode: 0, output: expect.stringMatching(/200 .*readyz/) });
    expect(await run('tools')).toEqual({ exitCode: 0, output: expect.stringContaining('calculate_sum') });
    expect(await run('call')).toEqual({ exitCode: 0, output: expect.stringContaining('"data": 5') });
  });

  it('fail where there is none, and with a key that is not one', async () => {
    const nowhere = { METRICS_URL: 'http://127.0.0.1:1', UTE_URL: 'http://127.0.0.1:1' };
    for (const name of ['probes', 'tools', 'call']) expect((await run(name, nowhere)).exitCode).not.toBe(0);
    expect(
      (await run('tools', { UTE_API_KEY: `${gateway.keys.agent.text.slice(0, -1)}x` })).exitCode,
    ).not.toBe(0);
  });
});
