// Each alert is brought about on gateways that run, as it is in life: Prometheus sees it fire, the first commands of its
// runbook show the cause, and where there is something to put right it is over afterwards.
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { acceptCall } from '../helpers/async-client.ts';
import { eventually } from '../helpers/eventually.ts';
import { callTool, sendTo } from '../helpers/rest-client.ts';
import { makeSchedule } from '../helpers/schedule-client.ts';
import { selfSignedCertificate } from '../helpers/self-signed-certificate.ts';
import type { TcpProxy } from '../helpers/tcp-proxy.ts';
import { ALERTS, AlertBench, type Replica } from './alert-bench.ts';

/** These take rights on the machine, or more rows than a test should make: docs/runbooks/README.md says how they were tried. */
const BY_HAND = ['UteDiskAlmostFull', 'UteDiskLow', 'UteRetentionBehind'];
const WITHIN_MS = 75_000;
const NOBODY = { allow_private: ['127.0.0.0/8'], allow_ports: [9] };
const SIGNED = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

const handler = { handler: resolve(import.meta.dirname, '../../tools/handlers/echo.js'), trusted: true };
const declared = (name: string, more: object = {}) => ({
  name,
  description: name,
  tool_type: 'javascript',
  input_schema: { type: 'object' },
  implementation_config: handler,
  metadata: { read_only: true },
  ...more,
});
const TOOLS = {
  connections: { nobody: { type: 'http', base_url: 'http://127.0.0.1:9', ...NOBODY } },
  tools: [
    declared('look'),
    declared('act', { metadata: {} }),
    declared('dangerous', { metadata: { is_dangerous: true } }),
    declared('away', { tool_type: 'http', implementation_config: { connection: 'nobody', path: '/' } }),
    declared('dies', {
      tool_type: 'python',
      input_schema: { type: 'object', properties: { code: { type: 'integer' } } },
      implementation_config: { module: 'hostile', function_name: 'exit_with', pure: true },
    }),
  ],
};

let bench: AlertBench;
let source: Server;
let tools: string;
/** The one that is looked at. */
let gateway: Replica;
const seen = new Set<string>();

/** It fires, and for this gateway where it is about one. */
async function fires(alert: string, labels: Readonly<Record<string, string>> = {}): Promise<true> {
  await eventually(
    async () => expect(await bench.prometheus.firing(alert)).toContainEqual(matching(labels)),
    alert,
    WITHIN_MS,
  );
  seen.add(alert);
  return true;
}
const isOver = (alert: string, labels: Readonly<Record<string, string>> = {}) =>
  eventually(
    async () => expect(await bench.prometheus.firing(alert)).not.toContainEqual(matching(labels)),
    `the end of ${alert}`,
    WITHIN_MS,
  );
const matching = (labels: Readonly<Record<string, string>>): unknown =>
  expect.objectContaining({ labels: expect.objectContaining(labels) });

const settingsWith = (more: object = {}) => ({
  loaders: [{ type: 'yaml-file', paths: [tools] }],
  executors: { python: { module_paths: [resolve(import.meta.dirname, '../fixtures/python')] } },
  // In a test machine's own time, a gateway may lag: no reason to refuse calls here.
  limits: { shed_at_lag_ms: 60_000 },
  ...more,
});
const readyz = async ({ url }: Replica) =>
  (await (await fetch(`${url}/readyz`)).json()) as { degraded: object };

beforeAll(async () => {
  bench = await AlertBench.start();
  tools = join(bench.folder('tools'), 'tools.yaml');
  writeFileSync(tools, stringify(TOOLS));
  source = createServer((_, answer) => answer.end('tools: []\n')).listen(0, '127.0.0.1');
  await once(source, 'listening');
});
afterAll(async () => {
  source?.close();
  await bench?.stop();
});

describe('a gateway whose database goes away', () => {
  let line: TcpProxy;

  beforeAll(async () => {
    line = await bench.line(bench.postgres.port);
    gateway = await bench.gateway('cut-off', {
      ...settingsWith({ limits: { shed_at_lag_ms: 60_000, max_audit_backlog_bytes: 1 << 20 } }),
      database: { url: bench.postgres.url(undefined, line.port) },
    });
    await callTool(gateway, 'act');
    line.setMode({ kind: 'cut' });
  });

  it('UteDatabaseAway, UteAccessUnread; calls that change something are refused: UteErrorBudgetBurn…', async () => {
    await fires('UteDatabaseAway', { instance: 'cut-off' });
    await fires('UteAccessUnread', { instance: 'cut-off' });
    expect(await readyz(gateway)).toMatchObject({ degraded: { database: expect.any(String) } });
    // Traffic as usual: what only reads goes on.
    const traffic = setInterval(
      () => void Promise.all([callTool(gateway, 'act'), callTool(gateway, 'look')]),
      200,
    );
    try {
      for (const speed of ['Fast', 'Medium', 'Slow', 'Creeping']) await fires(`UteErrorBudgetBurn${speed}`);
    } finally {
      clearInterval(traffic);
    }
  });

  it('UteAuditLag after a minute, and UteAuditRefusesCalls once the journal is full; over when it is back', async () => {
    const calls = Array.from({ length: 16 }, () => ({ tool: 'look', arguments: {} }));
    await eventually(
      async () => {
        await sendTo(gateway, 'POST', '/v1/execute', { calls });
        return (await callTool(gateway, 'look')).status === 503;
      },
      'a journal that is full',
      WITHIN_MS,
    );
    await fires('UteAuditRefusesCalls', { instance: 'cut-off' });
    await fires('UteAuditLag', { instance: 'cut-off' });
    expect(await readyz(gateway)).toMatchObject({ degraded: { audit: expect.any(String) } });
    line.setMode({ kind: 'pass' });
    for (const alert of ['UteAuditRefusesCalls', 'UteAuditLag', 'UteDatabaseAway', 'UteAccessUnread'])
      await isOver(alert, { instance: 'cut-off' });
    await bench.end(gateway);
  });
});

describe('a gateway that is short of something', () => {
  let redisLine: TcpProxy;
  let sourceLine: TcpProxy;

  const start = () =>
    bench.gateway(
      'a',
      {
        ...settingsWith({
          loaders: [
            { type: 'yaml-file', paths: [tools] },
            {
              type: 'http',
              url: `http://127.0.0.1:${sourceLine.port}/tools.yaml`,
              interval: '1s',
              allow_private: ['127.0.0.0/8'],
              allow_ports: ['1-65535'],
            },
          ],
          extensions: { approval: { ttl_ms: 600_000 } },
          audit: {
            checkpoint_webhook: {
              url: 'http://127.0.0.1:9/',
              allow_http: true,
              allow_hosts: ['127.0.0.1:9'],
              secret: SIGNED,
              ...NOBODY,
            },
          },
          webhooks: {
            allow_hosts: ['127.0.0.1'],
            allow_http: true,
            secret: SIGNED,
            max_attempts: 1,
            ...NOBODY,
          },
        }),
        redis: { url: `redis://127.0.0.1:${redisLine.port}` },
      },
      {
        issuers: [
          {
            issuer: 'https://id.example.com',
            audience: 'ute',
            jwks_url: 'http://127.0.0.1:9/keys',
            allow_http: true,
            tenants: ['acme'],
            ...NOBODY,
          },
        ],
      },
    );

  beforeAll(async () => {
    redisLine = await bench.line(bench.redis.port);
    sourceLine = await bench.line((source.address() as AddressInfo).port);
    gateway = await start();
    await bench.postgres.sql(`UPDATE audit_chains SET checkpointed_at = now() - interval '2 minutes'`);
  });

  it('UteReloadFailed: a file that is no YAML, until it is one again', async () => {
    writeFileSync(tools, 'tools: [');
    await fires('UteReloadFailed', { instance: 'a' });
    const { body } = await sendTo(gateway, 'GET', '/v1/admin/reload');
    writeFileSync(tools, stringify(TOOLS));
    expect(body).toMatchObject({ ok: false, problems: [{ file: tools, line: 1, column: 9 }] });
    await isOver('UteReloadFailed', { instance: 'a' });
  });

  it('UteToolSourceStale: a source that is away, until it is back', async () => {
    sourceLine.setMode({ kind: 'cut' });
    await fires('UteToolSourceStale', { instance: 'a' });
    const { body } = await sendTo(gateway, 'GET', '/v1/admin/reload');
    expect(JSON.stringify(body)).toContain(String(sourceLine.port));
    sourceLine.setMode({ kind: 'pass' });
    await isOver('UteToolSourceStale', { instance: 'a' });
  });

  it('UteLimitsDegraded: Redis is away, until it is back', async () => {
    redisLine.setMode({ kind: 'cut' });
    await fires('UteLimitsDegraded', { instance: 'a' });
    expect(await readyz(gateway)).toMatchObject({ degraded: { admission: expect.any(String) } });
    redisLine.setMode({ kind: 'pass' });
    await isOver('UteLimitsDegraded', { instance: 'a' });
  });

  it('UteIssuerKeysUnread, and UteDegraded for a sink of checkpoints: nobody answers there', async () => {
    await fires('UteIssuerKeysUnread', { issuer: 'https://id.example.com' });
    await callTool(gateway, 'act');
    await fires('UteDegraded', { instance: 'a', component: 'audit_checkpoints' });
    expect(await readyz(gateway)).toMatchObject({
      degraded: { tokens: expect.any(String), audit_checkpoints: expect.any(String) },
    });
  });

  it('UteCircuitOpen: an upstream that refuses connections', async () => {
    await eventually(async () => {
      const { body } = await callTool(gateway, 'away');
      return body.error?.reason === 'CIRCUIT_OPEN';
    });
    await fires('UteCircuitOpen');
    const { body } = await sendTo(gateway, 'GET', '/v1/admin/circuits');
    expect(JSON.stringify(body)).toContain('"open"');
  });

  it('UteWorkersRestart: a module that ends its process', async () => {
    for (let death = 0; death < 14; death += 1) {
      const { body } = await callTool(gateway, 'dies', { code: 1 });
      expect(['WORKER_DIED', 'WORKER_START_FAILED']).toContain(body.error?.reason);
    }
    await fires('UteWorkersRestart', { executor: 'python' });
  });

  it('UteEventLoopLate: the process gets no processor', async () => {
    const starved = setInterval(() => {
      gateway.process.signal('SIGSTOP');
      setTimeout(() => gateway.process.signal('SIGCONT'), 300);
    }, 600);
    try {
      expect(await fires('UteEventLoopLate', { instance: 'a' })).toBe(true);
    } finally {
      clearInterval(starved);
      await new Promise((resume) => setTimeout(resume, 400));
    }
    await isOver('UteEventLoopLate', { instance: 'a' });
  });

  it('UteApprovalsExpiring: an approval with ten minutes to live, until somebody decides', async () => {
    const { body } = await callTool(gateway, 'dangerous');
    await fires('UteApprovalsExpiring');
    const { details } = body.error as unknown as { details: { approval_id: string } };
    const { body: pending } = await sendTo(gateway, 'GET', '/v1/approvals?status=pending');
    expect(JSON.stringify(pending)).toContain(details.approval_id);
    await bench.postgres.sql('DELETE FROM approvals');
    await isOver('UteApprovalsExpiring');
  });

  it('UteWebhooksGivenUp: nobody at the address of a callback', async () => {
    const callback = { callback: { url: 'http://127.0.0.1:9/done' } };
    expect(await acceptCall(gateway, 'look', {}, callback)).toMatchObject({ status: 202 });
    await fires('UteWebhooksGivenUp');
    const { body } = await sendTo(gateway, 'GET', '/v1/admin/webhooks/dead');
    expect(JSON.stringify(body)).toContain('127.0.0.1:9');
  });

  it('UteAuditRecordsLost: records that the database refuses', async () => {
    await bench.postgres.sql(`CREATE FUNCTION never() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'never' USING ERRCODE = 'data_exception'; END $$;
      CREATE TRIGGER never BEFORE INSERT ON audit_trail FOR EACH ROW WHEN (NEW.tool = 'look') EXECUTE FUNCTION never()`);
    await callTool(gateway, 'look');
    expect(await fires('UteAuditRecordsLost', { instance: 'a' })).toBe(true);
    await bench.postgres.sql('DROP TRIGGER never ON audit_trail; DROP FUNCTION never()');
  });
});

describe('gateways that come and go', () => {
  it('UteCertificateExpires…, UteReplicasDisagree: a second one with other tools and a short certificate', async () => {
    const dir = bench.folder('b');
    const { cert, key } = selfSignedCertificate();
    writeFileSync(join(dir, 'tools.yaml'), stringify({ tools: [declared('look')] }));
    writeFileSync(join(dir, 'cert.pem'), cert);
    writeFileSync(join(dir, 'key.pem'), key, { mode: 0o600 });
    const b = await bench.gateway('b', {
      ...settingsWith({ loaders: [{ type: 'yaml-file', paths: [join(dir, 'tools.yaml')] }] }),
      limits: { shed_at_lag_ms: 60_000, max_inflight_calls: 1 },
      tls: { cert_file: join(dir, 'cert.pem'), key_file: join(dir, 'key.pem') },
      role: 'api',
    });
    await fires('UteReplicasDisagree');
    expect(await fires('UteCertificateExpiresSoon', { instance: 'b', certificate: 'server' })).toBe(true);
    await fires('UteCertificateExpires', { instance: 'b' });
    await bench.end(b);
    await isOver('UteReplicasDisagree');
  });

  it('UteCallsShed: more calls than limits.max_inflight_calls', async () => {
    const small = await bench.gateway('small', {
      ...settingsWith(),
      limits: { shed_at_lag_ms: 60_000, max_inflight_calls: 1 },
      role: 'api',
    });
    await eventually(async () => {
      await Promise.all(Array.from({ length: 8 }, () => callTool(small, 'look')));
      return (await bench.prometheus.firing('UteCallsShed')).length > 0;
    });
    expect(await fires('UteCallsShed')).toBe(true);
    await bench.end(small);
  });

  it('UteJobsWaitTooLong, UteScheduleOverdue: no worker; UteScheduleMissed as one starts', async () => {
    const made = await makeSchedule(gateway, {
      schedule: 'every 15m',
      tool: 'look',
      arguments: {},
      misfire: 'skip',
    });
    expect(made.status).toBe(201);
    await bench.end(gateway);
    const api = await bench.gateway('api', { ...settingsWith(), role: 'api' });
    expect(await acceptCall(api, 'look')).toMatchObject({ status: 202 });
    await bench.postgres.sql(
      `UPDATE calls SET created_at = now() - interval '10 minutes' WHERE status = 'queued'`,
    );
    // In forty minutes there are two quarters of an hour, whatever the time is.
    await bench.postgres.sql(`UPDATE scheduled_tasks SET next_run = now() - interval '40 minutes'`);
    await fires('UteJobsWaitTooLong');
    await fires('UteScheduleOverdue');
    const worker = await bench.gateway('worker', { ...settingsWith(), role: 'worker' });
    expect(await fires('UteScheduleMissed')).toBe(true);
    await isOver('UteJobsWaitTooLong');
    await isOver('UteScheduleOverdue');
    await Promise.all([bench.end(api), bench.end(worker)]);
  });

  it('UteGatewayGone: the last one has ended', async () => {
    expect(await fires('UteGatewayGone')).toBe(true);
  });
});

it('no alert is left out', () => {
  expect([...seen, ...BY_HAND].toSorted()).toEqual(ALERTS.toSorted());
});
