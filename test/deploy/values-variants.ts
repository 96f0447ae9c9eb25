// Values that the chart is tried with: each for what it changes.
import type { Values } from './chart-kit.ts';

const KEYS = `first:${Buffer.alloc(32, 7).toString('base64')}`;

export const WEBHOOK_SECRET = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;

export const SECRETS = {
  values: { redisUrl: 'redis://redis', databaseUrl: 'postgres://ute:secret@db/ute', secretsKeys: KEYS },
};

const autoscaling = { enabled: true };
const placed = {
  nodeSelector: { pool: 'tools' },
  tolerations: [{ key: 'tools', operator: 'Exists' }],
  affinity: { podAntiAffinity: {} },
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'kubernetes.io/hostname',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: {},
    },
  ],
  podAnnotations: { team: 'tools' },
  extraEnv: [{ name: 'TZ', value: 'UTC' }],
};

export const VARIANTS: Readonly<Record<string, Values>> = {
  'the defaults, with secrets': { secrets: SECRETS },
  embedded: { stores: 'embedded', roles: { all: { replicas: 1 } } },
  'api and workers apart, scaled by what is in flight and waits': {
    secrets: SECRETS,
    roles: {
      all: { enabled: false },
      api: { enabled: true, autoscaling },
      worker: { enabled: true, autoscaling: { ...autoscaling, cpu: null } },
    },
  },
  'all roles at once': {
    secrets: SECRETS,
    roles: { all: placed, api: { ...placed, enabled: true }, worker: { ...placed, enabled: true } },
  },
  'an existing secret and existing tools': {
    secrets: { existingSecret: 'mine', keys: { databaseOwnerUrl: 'owner', auditCheckpointKey: 'audit.pem' } },
    tools: { existingConfigMap: 'my-tools' },
  },
  'without a volume': { secrets: SECRETS, journal: { persistent: false } },
  'TLS, with certificates of clients': {
    secrets: SECRETS,
    tls: { existingSecret: 'tls', requireClientCertificate: true },
    tests: { apiKeySecret: 'key' },
  },
  bubblewrap: {
    secrets: SECRETS,
    sandbox: {
      bubblewrap: true,
      seccompProfile: 'profiles/bubblewrap.json',
      appArmorProfile: 'userns',
      unmaskedProc: true,
    },
  },
  'watched by the Prometheus operator': {
    secrets: SECRETS,
    monitoring: {
      serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
      prometheusRule: { enabled: true },
      dashboards: { enabled: true },
    },
  },
  'every secret and its own settings': {
    secrets: {
      values: {
        ...SECRETS.values,
        redisSentinelPassword: 'of-the-sentinels',
        databaseOwnerUrl: 'postgres://owner:secret@db/ute',
        databaseReplicaUrl: 'postgres://replica:secret@replica/ute',
        webhookSecret: WEBHOOK_SECRET,
        auditWebhookSecret: WEBHOOK_SECRET,
        auditS3SecretAccessKey: 'an-access-key',
        embeddingsApiKey: 'sk-embeddings',
        auditCheckpointKey: '-----BEGIN PRIVATE KEY-----\n',
      },
    },
    config: {
      http: { docs: false },
      auth: {
        keys: [
          { id: 'abcd1234', secret_sha256: 'a'.repeat(64), tenant: 'default', roles: ['platform_admin'] },
        ],
      },
      limits: { max_inflight_calls: 500 },
      audit: {
        checkpoint_webhook: {
          url: 'https://audit.example.com/checkpoints',
          allow_hosts: ['audit.example.com'],
        },
        checkpoint_s3: { bucket: 'checkpoints', access_key_id: 'someone' },
      },
      database: { pool_size: 20, ssl: 'verify-full' },
      webhooks: { allow_hosts: ['hooks.example.com'] },
      embeddings: { url: 'https://models.example.com/v1/embeddings', model: 'small' },
    },
    podLabels: { team: 'tools' },
    serviceAccount: { create: false, name: 'mine' },
    image: {
      repository: 'registry.example.com/ute',
      digest: `sha256:${'b'.repeat(64)}`,
      pullSecrets: [{ name: 'pull' }],
    },
    service: { type: 'LoadBalancer', annotations: { 'example.com/internal': 'true' }, grpcHeadless: false },
    tests: { apiKeySecret: 'key', tool: 'calculate_sum', arguments: '{"a": 2, "b": 3}' },
    extraVolumes: [{ name: 'modules', configMap: { name: 'modules' } }],
    extraVolumeMounts: [{ name: 'modules', mountPath: '/etc/modules' }],
  },
  'without what is on by default': {
    secrets: SECRETS,
    migration: { enabled: false },
    networkPolicy: { enabled: false },
    podDisruptionBudget: { enabled: false },
  },
  'callers, scrapers and other ports': {
    secrets: SECRETS,
    networkPolicy: {
      callers: [{ podSelector: { matchLabels: { app: 'agents' } } }],
      scrapers: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }],
      egressPorts: [443, 5433],
      extraEgress: [{ to: [{ podSelector: {} }] }],
    },
  },
};
