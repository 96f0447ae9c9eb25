// What gateway.yaml may say about all that is kept: stores, queues, schedules, records and recordings.
import { z } from 'zod';
import { parseDuration } from '../lib/text/duration.ts';
import { egressFields } from '../lib/egress/egress.ts';
import { webhookSecret } from './audit-settings.ts';
import { whole } from '../lib/settings/whole.ts';

export const redis = z.strictObject({
  url: z
    .string()
    .regex(/^rediss?:\/\//, 'must begin with redis:// or rediss://')
    .optional()
    .describe(
      'Shares limits, caches and queues between replicas. Without it, each process keeps its own. With mode sentinel its host is a sentinel, its login that of the servers; with mode cluster it is a node.',
    ),
  mode: z
    .enum(['single', 'sentinel', 'cluster'])
    .default('single')
    .describe(
      'sentinel: the server that sentinels name, now and after a failover. cluster: a Redis Cluster.',
    ),
  nodes: z
    .array(z.string().regex(/^([A-Za-z0-9_.-]+|\[[0-9a-fA-F:.]+\])(:\d{1,5})?$/, 'must be host or host:port'))
    .max(100)
    .default([])
    .describe('More sentinels, or more nodes of the cluster, as host:port: any that answers will do.'),
  master_name: z.string().min(1).max(200).optional().describe('Of sentinels: what they call the server.'),
  sentinel_password: z
    .string()
    .min(1)
    .optional()
    .describe('Of the sentinels themselves. Better in UTE_REDIS_SENTINEL_PASSWORD.'),
  tls: z
    .strictObject({
      ca_file: z.string().min(1).optional().describe('PEM; left out: the CAs that Node trusts.'),
      cert_file: z.string().min(1).optional().describe('PEM of this client, with key_file.'),
      key_file: z.string().min(1).optional().describe('PEM, the private key of cert_file.'),
    })
    .optional()
    .describe('For rediss:// alone. The certificate of each server is checked.'),
  prefix: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,32}$/, 'must be 1 to 32 letters, digits, _, . or -')
    .default('ute')
    .describe('What every key begins with: gateways that share a Redis and a prefix share their limits.'),
  command_timeout_ms: whole(20, 10_000)
    .default(150)
    .describe(
      'A command that is not answered by then is asked once more; then calls do without Redis until it answers again.',
    ),
  required: z
    .boolean()
    .optional()
    .describe(
      'Refuses to start without url. True when left out and NODE_ENV is production: in memory, each replica would have limits of its own.',
    ),
});

export const database = z
  .strictObject({
    url: z
      .string()
      .regex(/^postgres(ql)?:\/\//, 'must begin with postgres:// or postgresql://')
      .optional()
      .describe(
        'Holds calls, approvals, schedules and audit. Without it, an embedded PostgreSQL under data_dir does.',
      ),
    owner_url: z
      .string()
      .regex(/^postgres(ql)?:\/\//, 'must begin with postgres:// or postgresql://')
      .optional()
      .describe(
        'The same database, as the role that owns the tables: migrates, drops old days and erases. The role of url then only adds audit records.',
      ),
    pool_size: whole(1, 200).default(10),
    ssl: z
      .enum(['disable', 'require', 'verify-full'])
      .default('disable')
      .describe('require encrypts without checking who answers.'),
    ssl_ca_file: z
      .string()
      .min(1)
      .optional()
      .describe('PEM of the CAs that ssl: verify-full trusts; left out: those that Node trusts.'),
    pooler: z
      .enum(['none', 'transaction'])
      .default('none')
      .describe(
        'transaction: url leads to a pooler that gives a connection for one transaction at a time, such as PgBouncer with pool_mode transaction.',
      ),
    replica_url: z
      .string()
      .regex(/^postgres(ql)?:\/\//, 'must begin with postgres:// or postgresql://')
      .optional()
      .describe(
        'A read replica: lists of calls, audit records and their export are read there alone, as late as it is, and refused while it is away.',
      ),
    migrate: z
      .boolean()
      .default(true)
      .describe('Brings the schema up to date at boot, under a lock. Otherwise: ute migrate.'),
  })
  .refine(({ url, replica_url: replica }) => replica === undefined || url !== undefined, {
    path: ['replica_url'],
    message: 'needs database.url, of the server that it is a replica of',
  })
  .refine(({ ssl, ssl_ca_file: ca }) => ca === undefined || ssl === 'verify-full', {
    path: ['ssl_ca_file'],
    message: 'is for ssl: verify-full, which checks who answers',
  })
  .refine(({ url, owner_url: owner }) => owner === undefined || url !== undefined, {
    path: ['owner_url'],
    message:
      'needs database.url, of the role that adds records; the embedded database has two roles by itself',
  });

export const asyncCalls = z.strictObject({
  concurrency: whole(1, 1_000)
    .default(32)
    .describe('Accepted calls (Prefer: respond-async) that one replica runs at the same time.'),
  max_queued_per_tenant: whole(1, 500_000)
    .default(10_000)
    .describe('Accepted calls of one tenant that may wait; more are refused.'),
  max_wait_ms: whole(1_000, 30 * 86_400_000)
    .default(86_400_000)
    .describe('A call that has waited for so long is not run any more.'),
  lease_ms: whole(1_000, 600_000)
    .default(30_000)
    .describe('How long after its last sign of life a replica is believed to be running a call.'),
});

export const schedules = z.strictObject({
  max_per_tenant: whole(0, 100_000)
    .default(1_000)
    .describe('Schedules of one tenant that have not finished; 0 = nobody may make any.'),
});

export const webhooks = z.strictObject({
  ...egressFields,
  allow_hosts: egressFields.allow_hosts.describe(
    'Hosts that a callback may name: "hooks.example.com", "*.example.com". None: nobody is called back.',
  ),
  allow_http: z.boolean().default(false).describe('Also http, not only https.'),
  secret: webhookSecret.optional().describe('Signs each message (Standard Webhooks): whsec_ and base64.'),
  previous_secret: webhookSecret.optional().describe('Signs as well, while receivers change to the new one.'),
  max_attempts: whole(1, 50).default(10),
  base_delay_ms: whole(10, 3_600_000)
    .default(5_000)
    .describe('Before the second attempt; threefold before each further one, 4 hours at most.'),
  timeout_ms: whole(100, 60_000).default(10_000),
});

const period = z
  .string()
  .refine(
    (text) => parseDuration(text) !== undefined,
    'must be a duration of at most 366d, such as 30d or 12h',
  );

export const retention = z.strictObject({
  calls: period.default('30d').describe('Calls, from their end on, with what they said while they ran.'),
  call_events: period.default('7d').describe('What asynchronous calls said while they ran.'),
  audit: period.default('365d').describe('Audit records.'),
  sessions: period.default('30d').describe('Sessions, from their end on.'),
  approvals: period.default('30d').describe('Approvals, from their expiry on.'),
  revoked_keys: period
    .default('365d')
    .describe('API keys of the database, from their revocation on: records name them by their id.'),
});

const recordingName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_-]{0,40}$/,
    'must be 1 to 41 letters, digits, _ or -, the first a letter or digit',
  );

export const recording = z.strictObject({
  enabled: z.boolean().default(true).describe('Whether operators may record calls at all.'),
  max_total_bytes: whole(1 << 20, 2 ** 40)
    .default(1 << 30)
    .describe('Of all recordings on the disk together; none is begun that could need more.'),
  start: z
    .array(
      z.strictObject({
        name: recordingName.describe('The time is added to it.'),
        tenant_id: z
          .string()
          .min(1)
          .max(256)
          .refine((name) => !name.includes('*'), 'must name one tenant: leave it out for all of them')
          .optional()
          .describe('Left out: of every tenant.'),
        session_id: z.string().min(1).max(256).optional(),
        tools: z
          .array(z.string().min(1).max(256))
          .min(1)
          .max(32)
          .optional()
          .describe('Globs over the names of tools.'),
        max_calls: whole(1, 100_000).default(1_000),
        max_bytes: whole(4_096, 256 << 20).default(16 << 20),
        ttl: z
          .string()
          .refine(
            (text) => (parseDuration(text) ?? Infinity) <= 7 * 86_400_000,
            'must be a duration of at most 7d, such as 1h',
          )
          .default('1h'),
      }),
    )
    .max(16)
    .default([])
    .describe('Recordings that begin when the gateway does. Others are begun by REST.'),
});

export const replay = z.strictObject({
  file: z.string().min(1).describe('The recording that answers; relative to the folder of gateway.yaml.'),
  on_miss: z
    .enum(['refuse', 'call'])
    .default('refuse')
    .describe('A call that is not in it is refused, or really made.'),
  on_repeat: z
    .enum(['last', 'miss'])
    .default('last')
    .describe('When equal calls have got all recorded answers: the last one again, or what a miss gets.'),
  on_changed: z
    .enum(['answer', 'refuse'])
    .default('answer')
    .describe('Whether a tool that is defined otherwise by now is still answered for.'),
});
