// Tasks through the packs that they are made of: a search and a request of `web`, told by a mail of `email` and by webhook.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { eventually } from '../helpers/eventually.ts';
import { LoopbackServers } from '../helpers/loopback-servers.ts';
import { parsed, startMailServer, type MailServer } from '../helpers/mail-server.ts';
import { request, sendTo, type Envelope, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { startProviders } from '../helpers/search-providers.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';
import { receiveWebhooks } from '../helpers/webhook-receiver.ts';

const PASSWORD = 'desk-password-1';
/** What the tasks of a declared agent run is configured for it, as what the agent calls itself. */
const TOOLS_OF_DESK = [
  'add_reminder',
  'add_recurring_task',
  'run_task',
  'search_web',
  'web_search_api',
  'api_call',
];

interface Told {
  readonly type: string;
  readonly data: { readonly schedule_id?: string; readonly status: string; readonly result: Envelope };
}

const servers = new LoopbackServers();
const told: Told[] = [];
let mail: MailServer;
let dir: string;
let lights: string;
let gateway: RunningGateway;
let ann: RestTarget;

beforeAll(async () => {
  dir = tempDir();
  mail = await startMailServer();
  mail.accounts.set('desk@example.com', PASSWORD);
  lights = await servers.http((asked, response) =>
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ lights: 'off', method: asked.method, by: asked.headers.authorization })),
  );
  const { searxng } = await startProviders(servers, []);
  const host = await receiveWebhooks(servers, told);
  const egress = { allow_private: ['127.0.0.0/8'], allow_ports: ['1-65535'] };
  const apis = [
    { base_url: lights, methods: ['POST'], auth: { type: 'bearer', token: 'token-of-the-lights' } },
  ];
  const connections = {
    outgoing: { type: 'smtp', tls: { ca: mail.ca }, ...egress },
    apis: { type: 'http-hosts', hosts: apis },
  };
  writeFileSync(join(dir, 'tools.yaml'), stringify({ connections }));
  vi.stubEnv('SEARXNG_URL', searxng);
  gateway = await startGateway({
    tools: [],
    settings: {
      loaders: [
        { type: 'yaml-file', paths: [join(dir, 'tools.yaml')] },
        { type: 'pack', name: 'tasks' },
        { type: 'pack', name: 'web', choose: { search: 'searxng' }, connections: { web_apis: 'apis' } },
        { type: 'pack', name: 'email', connections: { mail: 'outgoing' } },
      ],
      executors: { http: egress, schedules: { callback_url: `http://${host}/told` } },
      webhooks: {
        allow_hosts: [host],
        ...egress,
        allow_http: true,
        secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
      },
    },
    more: {
      boss: { tenant: 'acme', roles: ['admin'] },
      ann: { tenant: 'acme', roles: ['agent'], agents: ['desk'], user: 'ann' },
    },
  });
  ann = gateway.key('ann');
  const boss = gateway.key('boss');
  await request(boss, 'POST', '/v1/agents', { name: 'desk' });
  const configured = await Promise.all([
    ...TOOLS_OF_DESK.map((tool) => request(boss, 'PUT', `/v1/agents/desk/tools/${tool}`, { config: {} })),
    request(boss, 'PUT', '/v1/agents/desk/tools/email', {
      config: { smtp_server: 'localhost', smtp_port: mail.port, from_email: 'desk@example.com' },
      sensitive_config: { api_key: PASSWORD },
    }),
  ]);
  const refused = configured.filter(({ status }) => status !== 200);
  if (refused.length > 0) throw new Error(JSON.stringify(refused));
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await gateway?.stop();
  await servers.close();
  await mail?.close();
  removeDir(dir);
});

/** Made by the agent for its user, and due at once: as if no gateway had run for a week. */
async function dueTask(said: object): Promise<{ readonly told: Told['data']; readonly text: string }> {
  const { body } = await sendTo<Envelope>(ann, 'POST', '/v1/tools/add_recurring_task/execute', {
    arguments: { schedule: 'weekdays 9am', email: 'ann@example.com', ...said },
    context: { agent_id: 'desk' },
  });
  expect(body).toMatchObject({ ok: true });
  const { task_id: id } = body.data as { task_id: string };
  const { db } = await gateway.service.infra.database.opened();
  await sql`UPDATE scheduled_tasks SET next_run = now() - interval '8 days' WHERE id = ${id}`.execute(db);
  const message = await eventually(
    () => told.find(({ data }) => data.schedule_id === id) ?? false,
    `word of the task ${id}`,
  );
  const [received] = mail.mails.splice(0);
  if (received === undefined) throw new Error(`no mail: ${JSON.stringify(message)}`);
  expect(received).toMatchObject({ isSecure: true, user: 'desk@example.com', to: ['ann@example.com'] });
  const { subject = '', text = '' } = await parsed(received);
  return { told: message.data, text: `${subject}\n${text}` };
}

it('a search that is due asks the provider, and what it found is told by mail and by webhook', async () => {
  const found = await dueTask({
    task_type: 'web_search',
    description: 'Towers in the news',
    execution_data: { query: 'towers', limit: 1, summarize: true },
  });
  expect(found.told).toMatchObject({
    status: 'succeeded',
    result: {
      ok: true,
      data: { told_by_mail: true, result: { results: [{ url: 'https://towers.example/a' }] } },
      meta: { untrusted: true },
    },
  });
  expect(found.text).toContain('Scheduled search: Towers in the news');
  expect(found.text).toContain('https://towers.example/a');
});

it('a request that is due goes to the place that the operator listed, with its credential, which nobody is told', async () => {
  const found = await dueTask({
    task_type: 'api_call',
    description: 'Turn off the lights',
    execution_data: { url: `${lights}/off`, method: 'POST' },
  });
  expect(found.told).toMatchObject({
    status: 'succeeded',
    result: { ok: true, data: { told_by_mail: true } },
  });
  expect(found.text).toContain('Scheduled call: Turn off the lights');
  expect(found.text).toContain('"lights": "off"');
  expect(JSON.stringify(found)).not.toContain('token-of-the-lights');
});

it('a request to a place that nobody listed fails when it is due, and that is told as well', async () => {
  const found = await dueTask({
    task_type: 'api_call',
    description: 'Look inside',
    execution_data: { url: 'http://169.254.169.254/latest/', method: 'POST' },
  });
  expect(found.told).toMatchObject({ status: 'failed', result: { ok: false } });
  expect(found.text).toContain('It failed:');
});
