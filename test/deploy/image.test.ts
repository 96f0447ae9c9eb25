// The image: its build steps, done in a clean folder, give a gateway that runs as another user below a root that is read-only.
import { spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { callTool } from '../helpers/rest-client.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';
import { outsideEnv } from './outside-env.ts';
import { runStage, stagesOf } from './dockerfile.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const TEXT = readFileSync(join(ROOT, 'deploy/docker/Dockerfile'), 'utf8');
const STAGES = stagesOf(TEXT);
const LAST = STAGES.at(-1);
const last = (instruction: string) =>
  (LAST?.steps ?? []).filter((step) => step.instruction === instruction).map(({ text }) => text);
const UID = 10_001;

describe('the image', () => {
  it('is of two stages: what builds is not in what runs', () => {
    expect(STAGES.map(({ name }) => name)).toEqual(['build', '']);
    expect(last('COPY')).toEqual(['--from=build --chown=root:root /build/app /app']);
  });

  it('copies nothing that its ignore file keeps back, and no whole checkout', () => {
    const kept = readFileSync(join(ROOT, 'deploy/docker/Dockerfile.dockerignore'), 'utf8').split('\n');
    const matches = kept
      .filter((line) => line.startsWith('!'))
      .map(
        (line) =>
          new RegExp(
            `^${line
              .slice(1)
              .replaceAll('.', String.raw`\.`)
              .replaceAll('*', '[^/]*')}$`,
          ),
      );
    const copied = (STAGES[0]?.steps ?? [])
      .filter(({ instruction }) => instruction === 'COPY')
      .flatMap(({ text }) => text.split(' ').slice(0, -1));
    expect(copied.filter((path) => !matches.some((match) => match.test(path)))).toEqual([]);
    expect(kept[1]).toBe('*');
  });

  it('runs as a user without rights, under tini, with the programs that the sandbox needs', () => {
    expect(last('USER')).toEqual([`${UID}:${UID}`]);
    expect(JSON.parse(last('ENTRYPOINT')[0] ?? '')).toEqual(['tini', '--']);
    expect(last('RUN').join(' ')).toMatch(/bubblewrap .*python3 tini util-linux/);
    expect(last('CMD').at(-1)).toContain('/app/dist/bundle/main.js');
    expect(TEXT).not.toMatch(/privileged|sudo|setuid|chmod (?:-R )?(?:a\+w|777)/);
  });
});

describe('what its build steps give', () => {
  let dir: string;
  let app: string;
  let data: string;

  beforeAll(() => {
    dir = tempDir();
    chmodSync(dir, 0o711);
    const root = join(dir, 'root');
    const [build] = STAGES;
    if (build !== undefined) {
      // What was fetched for this checkout does as well.
      const env = { ...outsideEnv(), npm_config_prefer_offline: 'true' };
      runStage(build, { context: ROOT, root, env });
    }
    app = join(root, 'build/app');
    data = join(dir, 'data');
    mkdirSync(data);
    // As a cluster gives a volume to a pod: of root, and of the pod's group.
    if (process.getuid?.() === 0) chownSync(data, 0, UID);
    chmodSync(data, 0o2770);
  });

  afterAll(() => removeDir(dir));

  it('holds what runs and nothing else, and a list of it', () => {
    const packages = readdirSync(join(app, 'node_modules'));
    for (const name of ['typescript', 'vitest', 'oxlint', 'rolldown']) expect(packages).not.toContain(name);
    for (const name of ['src', 'test', '.git']) expect(existsSync(join(app, name))).toBe(false);
    const { bomFormat, components } = JSON.parse(readFileSync(join(app, 'sbom.cdx.json'), 'utf8')) as {
      bomFormat: string;
      components: readonly { name: string }[];
    };
    expect(bomFormat).toBe('CycloneDX');
    expect(components.map(({ name }) => name)).toContain('fastify');
    expect(components.map(({ name }) => name)).not.toContain('vitest');
  });

  it('serves calls below a read-only root, as another user, without a capability, its database its own', async () => {
    const gateway = inContainer(dir, app, data);
    try {
      const ready = await eventually(
        () => lineOf(gateway.output(), 'ready') ?? gateway.gone(),
        'ready',
        60_000,
      );
      const [key = ''] = /ute_live_[\w-]+/.exec(gateway.output()) ?? [];
      const target = { url: (JSON.parse(ready) as { rest: string }).rest, key };
      expect(await callTool(target, 'calculate_sum', { a: 2, b: 3 })).toMatchObject({ body: { data: 5 } });
      expect(await callTool(target, 'echo', { text: 'hi' })).toMatchObject({ body: { ok: true } });
    } finally {
      await gateway.stop();
    }
    expect(lineOf(gateway.output(), 'stopped')).toBeDefined();
  });
});

const lineOf = (output: string, message: string) =>
  output.split('\n').find((line) => line.includes(`"msg":"${message}"`));

/** The walls that an engine puts up, by the programs of the sandbox: no more rights, a root that nothing can write to. */
function inContainer(dir: string, app: string, data: string) {
  writeFileSync(
    join(dir, 'passwd'),
    `ute:x:${UID}:${UID}::/var/lib/unified-tool-executor:/usr/sbin/nologin\n`,
  );
  const isRoot = process.getuid?.() === 0;
  const asUser = isRoot
    ? [
        'setpriv',
        `--reuid=${UID}`,
        `--regid=${UID}`,
        '--clear-groups',
        '--bounding-set=-all',
        '--inh-caps=-all',
        '--no-new-privs',
      ]
    : [];
  const walls = [
    'bwrap',
    '--ro-bind',
    '/',
    '/',
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    '--tmpfs',
    '/tmp',
    '--tmpfs',
    '/mnt',
  ];
  const own = [
    '--ro-bind',
    join(dir, 'passwd'),
    '/etc/passwd',
    '--ro-bind',
    app,
    '/tmp/app',
    '--bind',
    data,
    '/tmp/data',
  ];
  const node = ['--ro-bind', process.execPath, '/tmp/node', '--die-with-parent', '--'];
  const command = (JSON.parse(last('CMD').at(-1) ?? '[]') as string[]).slice(1);
  const [program = '', ...args] = [
    ...asUser,
    ...walls,
    ...own,
    ...node,
    '/tmp/node',
    ...command.map((word) => word.replace('/app/', '/tmp/app/')),
  ];
  const child = spawn(program, args, {
    cwd: '/',
    env: {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      NODE_ENV: 'production',
      UTE_CONFIG: '/tmp/app/config/gateway.yaml',
      UTE_DATA_DIR: '/tmp/data',
      UTE_REDIS_REQUIRED: 'false',
      UTE_HTTP_PORT: '0',
      UTE_GRPC_PORT: '0',
      UTE_METRICS_PORT: '0',
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  let ended = false;
  const closed = new Promise<void>((done) =>
    child.once('close', () => {
      ended = true;
      done();
    }),
  );
  return {
    output: () => output,
    gone(): false {
      if (ended) throw new Error(`the gateway ended:\n${output}`);
      return false;
    },
    async stop() {
      // bwrap passes no signal on: its only child is told.
      const inside = childOf(child.pid ?? 0);
      if (!ended && inside !== undefined) process.kill(inside, 'SIGTERM');
      await closed;
    },
  };
}

/** The gateway below bwrap, however many of its own lie between. */
function childOf(pid: number): number | undefined {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  if (children === '') return undefined;
  const [first = ''] = children.split(' ');
  const name = readFileSync(`/proc/${first}/comm`, 'utf8').trim();
  return name === 'bwrap' ? childOf(Number(first)) : Number(first);
}
