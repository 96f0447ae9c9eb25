// The environment variables the gateway knows, and where each lands in the settings.

interface Variable {
  readonly path: readonly string[];
  readonly kind: 'text' | 'integer' | 'boolean' | 'paths' | 'count';
  readonly help: string;
}

/** Of these, `NAME_FILE` names a file that holds the value: how secrets are mounted. */
export const SECRETS: ReadonlySet<string> = new Set([
  'UTE_REDIS_URL',
  'UTE_REDIS_SENTINEL_PASSWORD',
  'UTE_DATABASE_URL',
  'UTE_DATABASE_OWNER_URL',
  'UTE_DATABASE_REPLICA_URL',
  'UTE_WEBHOOK_SECRET',
  'UTE_SECRETS_KEYS',
  'UTE_VAULT_TOKEN',
  'UTE_VAULT_SECRET_ID',
  'UTE_AUDIT_WEBHOOK_SECRET',
  'UTE_AUDIT_S3_SECRET_ACCESS_KEY',
  'UTE_EMBEDDINGS_API_KEY',
]);

/** UTE_CONFIG itself (the path of gateway.yaml) is read by the loader. */
export const ENVIRONMENT: Readonly<Record<string, Variable>> = {
  UTE_ROLE: variable(['role'], 'text', 'all, api or worker: what this process does.'),
  UTE_PROCESSES: variable(
    ['processes'],
    'count',
    'How many processes serve on the same ports: a number, or auto, one for each core.',
  ),
  UTE_HOST: variable(['host'], 'text', 'Address that all doors listen on.'),
  UTE_HTTP_PORT: variable(['http', 'port'], 'integer', 'REST port; 0 takes a free one.'),
  UTE_GRPC_PORT: variable(['grpc', 'port'], 'integer', 'gRPC port; 0 takes a free one.'),
  UTE_METRICS_PORT: variable(
    ['metrics', 'port'],
    'integer',
    'Port of /metrics and the probes; 0 takes a free one.',
  ),
  UTE_DATA_DIR: variable(['data_dir'], 'text', 'Records, the first key, workspaces of sessions.'),
  UTE_AUTH: variable(['auth', 'mode'], 'text', 'api_keys, or none (only on loopback).'),
  UTE_TOOLS: variable(
    ['loaders'],
    'paths',
    'Files or folders of tools, separated by commas, instead of the loaders.',
  ),
  UTE_REDIS_URL: variable(
    ['redis', 'url'],
    'text',
    'redis:// or rediss:// URL: limits hold across replicas.',
  ),
  UTE_REDIS_SENTINEL_PASSWORD: variable(
    ['redis', 'sentinel_password'],
    'text',
    'Password of the sentinels themselves, where redis.mode is sentinel.',
  ),
  UTE_REDIS_REQUIRED: variable(
    ['redis', 'required'],
    'boolean',
    'false lets a production gateway keep its limits in memory: for a single process.',
  ),
  UTE_DATABASE_URL: variable(
    ['database', 'url'],
    'text',
    'postgres:// URL of the records, instead of the embedded database under the data directory.',
  ),
  UTE_DATABASE_OWNER_URL: variable(
    ['database', 'owner_url'],
    'text',
    'The same database as the role that owns its tables: audit records are append-only for the other.',
  ),
  UTE_DATABASE_REPLICA_URL: variable(
    ['database', 'replica_url'],
    'text',
    'postgres:// URL of a read replica, for lists of calls and audit records.',
  ),
  UTE_AUDIT_WEBHOOK_SECRET: variable(
    ['audit', 'checkpoint_webhook', 'secret'],
    'text',
    'Signs messages with checkpoints of the audit trail.',
  ),
  UTE_AUDIT_S3_SECRET_ACCESS_KEY: variable(
    ['audit', 'checkpoint_s3', 'secret_access_key'],
    'text',
    'Of the bucket that takes checkpoints of the audit trail.',
  ),
  UTE_EMBEDDINGS_API_KEY: variable(
    ['embeddings', 'api_key'],
    'text',
    'Key for the service that embeds texts.',
  ),
  UTE_WEBHOOK_SECRET: variable(
    ['webhooks', 'secret'],
    'text',
    'Signs webhooks: whsec_ and at least 24 bytes in base64.',
  ),
  UTE_SECRETS_KEYS: variable(
    ['secrets', 'keys'],
    'text',
    'Keys that the secrets of agents are encrypted with: id:base64,…; the first for new ones, the others to read.',
  ),
  UTE_VAULT_TOKEN: variable(['secrets', 'vault', 'token'], 'text', 'Token for the transit engine of Vault.'),
  UTE_VAULT_SECRET_ID: variable(
    ['secrets', 'vault', 'approle', 'secret_id'],
    'text',
    'Secret id for the AppRole login to Vault.',
  ),
  UTE_TLS_CERT_FILE: variable(['tls', 'cert_file'], 'text', 'PEM certificate chain for REST and gRPC.'),
  UTE_TLS_KEY_FILE: variable(['tls', 'key_file'], 'text', 'PEM private key for REST and gRPC.'),
  UTE_TLS_CLIENT_CA_FILE: variable(
    ['tls', 'client_ca_file'],
    'text',
    'PEM CA that clients must be signed by.',
  ),
  UTE_LOG_LEVEL: variable(['log', 'level'], 'text', 'debug, info, warn, error or silent.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: variable(
    ['telemetry', 'otlp_endpoint'],
    'text',
    'Base URL of a collector that takes OTLP over HTTP.',
  ),
  UTE_DRAIN_MS: variable(
    ['shutdown', 'drain_ms'],
    'integer',
    'How long calls in flight may take after SIGTERM.',
  ),
  UTE_DEMO_UPSTREAM: variable(
    ['demo', 'upstream'],
    'boolean',
    'Starts the small server that the demo http tool calls.',
  ),
};

/** Read elsewhere, so not unknown: the CLI's own, what the demo gives to ${env:…}, and where a test lets it die. */
export const FOREIGN_VARIABLES: ReadonlySet<string> = new Set([
  'UTE_CONFIG',
  'UTE_API_KEY',
  'UTE_URL',
  'UTE_CLIENT_CERT_FILE',
  'UTE_CLIENT_KEY_FILE',
  'UTE_CA_FILE',
  'UTE_DEMO_UPSTREAM_URL',
  'UTE_FAILPOINT',
]);

function variable(path: readonly string[], kind: Variable['kind'], help: string): Variable {
  return { path, kind, help };
}

type Reader = (text: string) => unknown;

const READERS: Record<Variable['kind'], Reader> = {
  integer: (text) => (/^-?\d+$/.test(text) ? Number(text) : undefined),
  count: (text) => (text === 'auto' ? text : READERS.integer(text)),
  boolean: (text) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
  paths: (text) => [{ type: 'yaml-file', paths: text.split(',').map((path) => path.trim()) }],
  text: (text) => text,
};

/** The value as the schema wants it; undefined: it is not of the kind. */
export function readVariable(kind: Variable['kind'], text: string): unknown {
  return READERS[kind](text);
}
