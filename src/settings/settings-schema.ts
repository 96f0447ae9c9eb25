// What gateway.yaml may say, with every default. Environment variables lie over it: see environment.ts.
import { z } from 'zod';
import {
  asyncCalls,
  database,
  recording,
  redis,
  replay,
  retention,
  schedules,
  webhooks,
} from './state-settings.ts';
import { secrets } from './secrets-settings.ts';
import { audit } from './audit-settings.ts';
import { auth } from './auth-settings.ts';
import { budgets, modes, sessions, stream } from './call-settings.ts';
import { embeddings } from './embedding-settings.ts';
import { approvals } from './approval-settings.ts';
import { telemetry } from './telemetry-settings.ts';
import { toolsets } from './toolsets/toolset-settings.ts';
import { oauth, oauthUrlProblem } from './oauth-settings.ts';
import { whole } from '../lib/settings/whole.ts';

const port = whole(0, 65_535);
const names = z.array(z.string().min(1));
const words = z.record(z.string(), z.unknown());

const tls = z.strictObject({
  cert_file: z.string().min(1).describe('PEM certificate chain.'),
  key_file: z.string().min(1).describe('PEM private key.'),
  client_ca_file: z
    .string()
    .min(1)
    .optional()
    .describe('PEM; when set, clients must show a certificate of this CA.'),
});

const limits = z.strictObject({
  max_body_bytes: whole(1024, 64 << 20).default(1 << 20),
  max_result_bytes: whole(1024, 256 << 20).default(4 << 20),
  max_parallel_calls: whole(1, 1000)
    .default(16)
    .describe("Calls in one POST /v1/execute; of a model's message, those that run at the same time."),
  max_model_text: whole(1_000, 16 << 20)
    .default(100_000)
    .describe('Characters of one result in a message for a model; what is beyond is cut there, and said so.'),
  max_timeout_ms: whole(1, 3_600_000).default(600_000),
  max_inflight_calls: whole(1, 1_000_000)
    .default(2_000)
    .describe(
      'Calls that run or wait at the same time. Tools of low priority may fill 60 % of it, normal ones 80 %, high ones all.',
    ),
  shed_at_lag_ms: whole(20, 60_000)
    .default(200)
    .describe(
      'Event loop lag (99th percentile) that tools of low priority are refused at; normal ones at twice as much.',
    ),
  max_pending_approvals: whole(1).default(10_000),
  max_new_budgets_per_hour: whole(1)
    .default(500_000)
    .describe(
      'For each tenant: turns, sessions, users and agents that may begin to be counted under a budget in an hour. Callers may think of their names, and each is a key in Redis until its time is over. The next new one is refused; those that are counted go on.',
    ),
  max_audit_backlog_bytes: whole(1 << 20, 2 ** 40)
    .default(512 << 20)
    .describe(
      'Audit records on the local disk that the database has not taken yet. When it is reached, calls are refused.',
    ),
  max_cache_bytes: whole(0, 2 ** 34)
    .default(64 << 20)
    .describe('Cached answers of all tools together: of this process, or in Redis.'),
});

const mcp = z.strictObject({
  enabled: z.boolean().default(true),
  public_url: z
    .string()
    .max(512)
    .refine((text) => oauthUrlProblem(text) === undefined, 'must be an https URL (http on loopback alone)')
    .optional()
    .describe(
      'Where MCP clients reach this gateway, without /mcp: what RFC 9728 metadata names. Left out: oauth.public_url, or what the Host of each request says.',
    ),
  task_from_timeout_ms: whole(0, 86_400_000)
    .default(60_000)
    .describe(
      'Clients of 2026-07-28 that take tasks are given one for each call of a tool whose timeout_ms is at least this. 0: for every call.',
    ),
});

export const settingsSchema = z.strictObject({
  role: z
    .enum(['all', 'api', 'worker'])
    .default('all')
    .describe(
      'What this process does. api serves REST and gRPC and leaves accepted calls, schedules and webhooks to others; worker runs those, and opens the metrics port alone. Both need database.url.',
    ),
  processes: z
    .union([z.literal('auto'), whole(1, 256)])
    .default(1)
    .describe(
      'How many processes serve on the same ports; auto: one for each core, and one alone without redis.url or database.url. Several need both. What is said per process or per replica is of each of them.',
    ),
  host: z.string().min(1).default('127.0.0.1').describe('Address that all doors listen on.'),
  http: z.strictObject({ port: port.default(8080), docs: z.boolean().default(true) }).prefault({}),
  grpc: z.strictObject({ port: port.default(50_051), reflection: z.boolean().default(true) }).prefault({}),
  metrics: z
    .strictObject({
      port: port.default(9464).describe('Serves /metrics, and the probes /livez and /readyz.'),
    })
    .prefault({}),
  mcp: mcp.prefault({}).describe('The Model Context Protocol, at /mcp on the port of REST.'),
  stream: stream
    .prefault({})
    .describe('Streams that pause at calls: WebSockets at /v1/stream, and Converse of gRPC.'),
  tls: tls.optional().describe('TLS for REST and gRPC.'),
  data_dir: z
    .string()
    .min(1)
    .default('./data')
    .describe(
      'Records, the first key, workspaces of sessions. A relative path starts where the gateway is started.',
    ),
  auth: auth.prefault({}),
  loaders: z
    .array(z.looseObject({ type: z.string().min(1) }))
    .min(1)
    .default([{ type: 'yaml-file', paths: ['tools.yaml'] }])
    .describe('Where tools come from. Relative paths start at the folder of gateway.yaml.'),
  toolsets: toolsets.describe(
    'Some of the tools under a name, as /mcp/{toolset} and `toolset` of lists and calls offer them.',
  ),
  pipeline: z
    .strictObject({ request: names.optional(), tool: names.optional() })
    .prefault({})
    .describe('Another order than the built-in one, outermost first. What is not named does not run.'),
  extensions: z.record(z.string(), words).default({}).describe('Options per extension, for all tools.'),
  custom_extensions: z
    .array(
      z.strictObject({
        path: z
          .string()
          .min(1)
          .describe('A module that exports `plugin`; relative to the folder of gateway.yaml.'),
        priority: z
          .number()
          .optional()
          .describe('Among the custom ones: higher runs further out. Left out: what the module says, or 0.'),
      }),
    )
    .default([]),
  custom_executors: z
    .array(
      z.strictObject({
        path: z
          .string()
          .min(1)
          .describe('A module that exports `executor`; relative to the folder of gateway.yaml.'),
      }),
    )
    .default([]),
  executors: z
    .record(z.string(), words)
    .default({})
    .describe('Settings per executor, for the whole gateway.'),
  limits: limits.prefault({}),
  modes: modes
    .optional()
    .describe('What each mode allows and bounds: {} has the three presets in force. Left out: nothing.'),
  budgets: budgets
    .optional()
    .describe('Calls and money of sessions, users, agents and tenants. Left out: nothing is counted.'),
  sessions: sessions.prefault({}).describe('Conversations that are declared by POST /v1/sessions.'),
  approvals: approvals.prefault({}),
  oauth: oauth.prefault({}),
  embeddings: embeddings
    .optional()
    .describe('Texts as vectors, for searches by meaning. Left out: searches go by words.'),
  redis: redis.prefault({}),
  database: database.prefault({}),
  retention: retention
    .prefault({})
    .describe('How long records are kept; older ones are deleted every ten minutes or so.'),
  audit: audit.prefault({}).describe('How records are kept from being changed unseen.'),
  async: asyncCalls.prefault({}),
  webhooks: webhooks.prefault({}),
  recording: recording.prefault({}).describe('Recordings of calls, under data_dir/recordings.'),
  replay: replay.optional().describe('Answers from a recording instead of calling tools.'),
  schedules: schedules.prefault({}),
  secrets: secrets.prefault({}),
  shutdown: z.strictObject({ drain_ms: whole(0, 600_000).default(30_000) }).prefault({}),
  log: z
    .strictObject({ level: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info') })
    .prefault({}),
  telemetry: telemetry.prefault({}).describe('OpenTelemetry: traces, metrics and logs by OTLP.'),
  demo: z
    .strictObject({ upstream: z.boolean().default(false) })
    .prefault({})
    .describe('Starts the small weather server that the demo tool get_weather calls.'),
});

export type SettingsFile = z.infer<typeof settingsSchema>;

/** The settings in force: the file with the environment over it, relative paths made absolute. Frozen. */
export interface Settings extends SettingsFile {
  /** Absolute folder that relative paths started from. */
  readonly configDir: string;
  /** Absolute path of gateway.yaml, which need not be there. */
  readonly configFile: string;
  /** Absolute folder of this process alone: data_dir, or one below it where several processes serve. */
  readonly own_dir: string;
  /** Which of several processes this one is, from 1. */
  readonly process?: number;
}
