// Checkpoints in other places beside the file: signed messages and locked objects, and what happens while these are away.
import { createHash, createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { callTool, targetOf } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { CheckpointFile } from '../../src/infra/audit/checkpoints/checkpoint-file.ts';
import { Checkpoints } from '../../src/infra/audit/checkpoints/checkpoints.ts';
import { openSigningKey } from '../../src/infra/audit/checkpoints/signing-key.ts';
import { recordingMetrics } from '../helpers/call-kit.ts';
import { quietLog } from '../helpers/quiet-log.ts';

const KEY = Buffer.alloc(32, 7);
const S3_SECRET = 'a secret of the bucket';
const POLL = { timeout: 20_000, interval: 50 };

interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

let server: Server;
let gateway: RunningGateway;
let port: number;
let hook: Received[];
const objects = new Map<string, Received>();
/** What the receiver of messages answers. */
let hookAnswers = 200;

beforeAll(async () => {
  server = createServer((incoming, answer) => {
    void bodyOf(incoming).then((body) => {
      const { method = '', url: path = '', headers } = incoming;
      const received = { method, path, headers, body };
      if (path.startsWith('/hook')) hook.push(received);
      else if (isSigned(received)) objects.set(path, received);
      const status = path.startsWith('/hook') ? hookAnswers : isSigned(received) ? 200 : 403;
      answer.writeHead(status).end();
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  ({ port } = server.address() as AddressInfo);
  const reached = { allow_http: true, allow_private: ['127.0.0.0/8'], allow_ports: [port] };
  hook = [];
  gateway = await startGateway({
    tools: ['test/fixtures/audit/tools.yaml'],
    settings: {
      audit: {
        checkpoint_webhook: {
          ...reached,
          url: `http://127.0.0.1:${port}/hook?x=1`,
          secret: `whsec_${KEY.toString('base64')}`,
        },
        checkpoint_s3: {
          ...reached,
          endpoint: `http://127.0.0.1:${port}`,
          bucket: 'audit',
          prefix: 'gateway/',
          region: 'eu-central-1',
          access_key_id: 'AKIDEXAMPLE',
          secret_access_key: S3_SECRET,
          object_lock: { mode: 'COMPLIANCE', retain: '30d' },
        },
      },
    },
  });
});
beforeEach(() => void (hook = []));
afterAll(async () => {
  await gateway?.stop();
  server?.close();
});

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** As a store checks it, by the words of AWS Signature Version 4 alone. */
function isSigned({ method, path, headers, body }: Received): boolean {
  const said =
    /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      String(headers['authorization']),
    );
  const [, day = '', region = '', names = '', signature] = said ?? [];
  const canonicalHeaders = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const canonical = [method, path, '', canonicalHeaders.join(''), names, sha256(body)].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const key = ['s3', 'aws4_request'].reduce(hmac, hmac(hmac(`AWS4${S3_SECRET}`, day), region));
  const covered = [
    'host',
    'x-amz-date',
    'x-amz-content-sha256',
    'x-amz-object-lock-mode',
    'x-amz-object-lock-retain-until-date',
  ];
  return (
    hmac(key, text).toString('hex') === signature &&
    covered.every((name) => names.split(';').includes(name)) &&
    headers['x-amz-content-sha256'] === sha256(body)
  );
}

const data = (name: string) => join(gateway.dir, 'data', name);
const file = () => readFileSync(data('audit-checkpoints.jsonl'), 'utf8');

/** As the gateway does each minute. */
async function makeCheckpoint(): Promise<string> {
  await callTool(targetOf(gateway, 'agent'), 'look', { n: 1 });
  await gateway.service.infra.ports.auditSink.flush();
  const before = file().length;
  const database = await gateway.service.infra.database.opened();
  const checkpoints = new Checkpoints({
    database,
    key: await openSigningKey(data('audit-checkpoints.key'), true, quietLog),
    sink: new CheckpointFile(data('audit-checkpoints.jsonl')),
    made: recordingMetrics().counter({ name: 'made', help: '' }).with(),
  });
  await expect
    .poll(async () => {
      await checkpoints.make(true);
      return file().length > before;
    }, POLL)
    .toBe(true);
  return file().slice(before);
}

const readiness = async () => {
  const { degraded = {} } = (await (await fetch(`${gateway.url}/readyz`)).json()) as {
    degraded?: Record<string, string>;
  };
  return degraded['audit_checkpoints'];
};

it('each gets the same lines as the file, signed, and they are checked as a file is', async () => {
  writeFileSync(data('audit-checkpoints.jsonl'), '', { flag: 'a' });
  await makeCheckpoint();
  const all = () => file();
  await expect.poll(() => hook.map(({ body }) => body).join(''), POLL).toBe(all());
  await expect.poll(() => [...objects.values()].map(({ body }) => body).join(''), POLL).toBe(all());
  const [message] = hook;
  const {
    'webhook-id': id,
    'webhook-timestamp': at,
    'webhook-signature': signature,
  } = message?.headers ?? {};
  const expected = createHmac('sha256', KEY)
    .update(`${String(id)}.${String(at)}.${message?.body}`)
    .digest('base64');
  expect(signature).toBe(`v1,${expected}`);
  const [[path = '', object] = []] = objects;
  expect(path).toMatch(/^\/audit\/gateway\/\d{4}-\d\d-\d\d\/\d{12}-[0-9a-f]{16}\.jsonl$/);
  expect(object?.headers).toMatchObject({ 'x-amz-object-lock-mode': 'COMPLIANCE' });
  const until = Date.parse(String(object?.headers['x-amz-object-lock-retain-until-date']));
  expect(until - Date.now()).toBeGreaterThan(29 * 86_400_000);
  let stdout = '';
  const io = {
    env: { UTE_URL: gateway.url, UTE_API_KEY: gateway.keys.admin.text },
    cwd: gateway.dir, fetch, readStdin: () => Promise.resolve(''),
    stdout: (text: string) => void (stdout += text), stderr: () => {},
  }; // oxfmt-ignore
  await run(['audit', 'export', 'all.jsonl'], io);
  writeFileSync(join(gateway.dir, 'hook.jsonl'), hook.map(({ body }) => body).join(''));
  const places = ['--checkpoints', 'hook.jsonl', '--checkpoints', data('audit-checkpoints.jsonl')];
  const key = data('audit-checkpoints.key.pub');
  expect(await run(['audit', 'verify', 'all.jsonl', ...places, '--public-key', key], io)).toBe(0);
  expect(stdout).toMatch(/whole: .* [1-9]\d* checkpoints hold/);
});

it('one that is away is shown, holds up no other, and gets what it missed when it is back', async () => {
  hookAnswers = 503;
  const made = await makeCheckpoint();
  await expect.poll(() => [...objects.values()].map(({ body }) => body).join(''), POLL).toContain(made);
  await expect
    .poll(readiness, POLL)
    .toBe(
      'checkpoints do not reach webhook (it answered 503); they wait in the database, and are in audit.checkpoint_file',
    );
  expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
  const metrics = await (await fetch(gateway.service.metricsUrl)).text();
  expect(metrics).toMatch(/ute_audit_checkpoint_failures_total\{sink="webhook"\} [1-9]/);
  expect(metrics).toContain('ute_degraded{component="audit_checkpoints"} 1');
  hook = [];
  hookAnswers = 200;
  await expect.poll(() => hook.map(({ body }) => body).join(''), { ...POLL, timeout: 40_000 }).toBe(made);
  await expect.poll(readiness, POLL).toBeUndefined();
  const { rows } = await sql`SELECT 1 FROM audit_sinks WHERE leased_until > now()`.execute(
    (await gateway.service.infra.database.opened()).owner,
  );
  expect(rows).toEqual([]);
});
