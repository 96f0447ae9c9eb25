// `ute packs add` where several replicas share Redis and PostgreSQL: a pack is of the gateway.yaml that names it, what an agent
// has configured is of all of them.
import { randomBytes } from 'node:crypto';
import { renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { eventually } from '../helpers/eventually.ts';
import { startPostgres, type Postgres } from '../helpers/postgres.ts';
import { startRedis, type RedisServer } from '../helpers/redis.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

let cwd: string;
let postgres: Postgres;
let redis: RedisServer;
let one: RunningGateway;
let two: RunningGateway;

beforeAll(async () => {
  cwd = tempDir();
  writeFileSync(join(cwd, 'tools.yaml'), 'tools: []\n');
  const [postgresServer, redisServer] = await Promise.all([startPostgres(), startRedis()]);
  [postgres, redis] = [postgresServer, redisServer];
  // A secret that one replica has encrypted is read by the other.
  const env = { UTE_SECRETS_KEYS: `shared:${randomBytes(32).toString('base64')}` };
  const settings = { database: { url: postgres.url() }, redis: { url: redis.url } };
  const start = () => startGateway({ tools: [join(cwd, 'tools.yaml')], settings, env });
  one = await start();
  two = await start();
});

afterAll(async () => {
  await Promise.all([one?.stop(), two?.stop()]);
  await Promise.all([postgres?.stop(), redis?.stop()]);
  removeDir(cwd);
});

const fileOf = ({ dir }: RunningGateway) => join(dir, 'gateway.yaml');

async function add(gateway: RunningGateway, ...argv: string[]) {
  const out = { stdout: '', stderr: '' };
  const env = { UTE_CONFIG: fileOf(gateway), UTE_URL: gateway.url, UTE_API_KEY: gateway.keys.admin.text };
  const code = await run(['packs', 'add', ...argv], {
    stdout: (text) => (out.stdout += text),
    stderr: (text) => (out.stderr += text),
    readStdin: async () => '',
    fetch,
    env,
    cwd,
  });
  return { code, ...out };
}

async function ask(gateway: RunningGateway, path: string, body?: object, key = gateway.keys.admin.text) {
  const response = await fetch(gateway.url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const MESSAGE = { to: 'ann@example.com', subject: 'Your booking', body: 'See you at ten.' };
/** By the agent that was configured; nothing is sent. */
const mailAt = (gateway: RunningGateway) =>
  ask(gateway, '/v1/tools/email.send_email/execute', {
    arguments: MESSAGE,
    context: { agent_id: 'desk', dry_run: true },
  });
const agree = (gateway: RunningGateway) =>
  ask(gateway, '/v1/admin/replicas').then(({ body }) => body['agree'] === true);

it('puts a pack in force where its gateway.yaml is read, and configures the agent for all', async () => {
  const email = {
    config: { smtp_server: 'smtp.example.com', from_email: 'desk@example.com' },
    sensitive_config: { api_key: 'a password' },
  };
  writeFileSync(join(cwd, 'mail.json'), JSON.stringify({ email }));
  const added = await add(one, 'email', '--agent', 'desk', '--tools', '@mail.json');
  expect(added).toMatchObject({ code: 0, stderr: '' });
  expect((await mailAt(one)).body).toMatchObject({ ok: true });
  await eventually(async () => {
    const { status, body } = await ask(two, '/v1/agents/desk/tools');
    return status === 200 && JSON.stringify(body).includes('smtp.example.com');
  }, 'the agent at the other replica');
  // It has a file of its own, which says nothing of the pack: the agent is configured there for a tool that nobody has made.
  await eventually(async () => {
    const { body } = await mailAt(two);
    return (body['error'] as { reason?: string } | undefined)?.reason === 'TOOL_NOT_IMPLEMENTED';
  }, 'the tool without its pack at the other replica');
  await eventually(async () => !(await agree(one)), 'the replicas tell that they differ');

  // The same command, without the agent, with that file.
  expect(await add(two, 'email')).toMatchObject({ code: 0, stderr: '' });
  expect((await mailAt(two)).body).toMatchObject({ ok: true });
  await eventually(() => agree(one), 'the replicas agree again');
});

it('puts a pack in force at every replica that reads the same gateway.yaml', async () => {
  // As a folder is that is mounted into both; keys are those of the file then.
  const link = `${fileOf(two)}.link`;
  symlinkSync(fileOf(one), link);
  renameSync(link, fileOf(two));
  expect(await add(one, 'tasks')).toMatchObject({ code: 0, stderr: '' });
  for (const gateway of [one, two])
    await eventually(async () => {
      const { status, body } = await ask(
        gateway,
        '/v1/tools?tag=tasks&page_size=1',
        undefined,
        one.keys.admin.text,
      );
      return status === 200 && JSON.stringify(body).includes('task');
    }, `the tools of the pack at ${gateway.url}`);
  await eventually(() => agree(one), 'the replicas agree');
});
