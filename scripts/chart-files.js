// What of the Helm chart follows from the code: values.schema.json, whose `config` is the schema of gateway.yaml, and the rules
// and dashboards that it brings along.
import { basename } from 'node:path';

const CHART = 'deploy/helm/unified-tool-executor';

const text = (description) => ({ type: 'string', ...(description && { description }) });
const flag = { type: 'boolean' };
const count = (minimum, maximum) => ({ type: 'integer', minimum, ...(maximum && { maximum }) });
const port = count(1, 65_535);
const one = (...values) => ({ enum: values });
const listOf = (items) => ({ type: 'array', items });
/** What Kubernetes checks. */
const theirs = { type: 'object' };
const theirList = listOf({ type: 'object' });
const texts = { type: 'object', additionalProperties: { type: 'string' } };
const own = (properties) => ({ type: 'object', additionalProperties: false, properties });
const orNull = ({ type, ...rest }) => ({ ...rest, type: [type, 'null'] });
const quantity = { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)?([KMGTP]i?)?$' };

const SECRETS = [
  'redisUrl',
  'redisSentinelPassword',
  'databaseUrl',
  'databaseOwnerUrl',
  'databaseReplicaUrl',
  'secretsKeys',
  'webhookSecret',
  'vaultToken',
  'vaultSecretId',
  'auditWebhookSecret',
  'auditS3SecretAccessKey',
  'embeddingsApiKey',
  'auditCheckpointKey',
];
const secrets = Object.fromEntries(SECRETS.map((name) => [name, text()]));

const role = own({
  enabled: flag,
  replicas: count(0, 1_000),
  resources: theirs,
  autoscaling: own({
    enabled: flag,
    minReplicas: count(1, 1_000),
    maxReplicas: count(1, 1_000),
    cpu: orNull(count(1, 1_000)),
    inflightCalls: orNull(count(1)),
    queuedCalls: orNull(count(1)),
  }),
  nodeSelector: texts,
  tolerations: theirList,
  affinity: theirs,
  topologySpreadConstraints: theirList,
  podAnnotations: texts,
  extraEnv: theirList,
});

const VALUES = {
  // Of Helm, where this chart is part of another.
  global: theirs,
  nameOverride: text(),
  fullnameOverride: text(),
  image: own({
    repository: { type: 'string', minLength: 1 },
    tag: text(),
    digest: { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
    pullPolicy: one('Always', 'IfNotPresent', 'Never'),
    pullSecrets: theirList,
  }),
  stores: one('external', 'embedded'),
  tools: own({ files: texts, existingConfigMap: text() }),
  secrets: own({ existingSecret: text(), keys: own(secrets), values: own(secrets) }),
  tls: own({ existingSecret: text(), requireClientCertificate: flag }),
  roles: own({ all: role, api: role, worker: role }),
  journal: own({ persistent: flag, size: quantity, storageClassName: text() }),
  shutdown: own({ preStopSeconds: count(1, 300), drainSeconds: count(0, 600) }),
  sandbox: own({ bubblewrap: flag, seccompProfile: text(), appArmorProfile: text(), unmaskedProc: flag }),
  service: own({
    type: one('ClusterIP', 'NodePort', 'LoadBalancer'),
    httpPort: port,
    grpcPort: port,
    annotations: texts,
    grpcHeadless: flag,
  }),
  migration: own({ enabled: flag, backoffLimit: count(0), activeDeadlineSeconds: count(1) }),
  podDisruptionBudget: own({
    enabled: flag,
    maxUnavailable: { oneOf: [count(0), { type: 'string', pattern: '^[0-9]{1,3}%$' }] },
  }),
  networkPolicy: own({
    enabled: flag,
    callers: theirList,
    scrapers: theirList,
    egressPorts: listOf(port),
    egressExcept: listOf(text()),
    egressExceptV6: listOf(text()),
    extraEgress: theirList,
  }),
  monitoring: own({
    serviceMonitor: own({ enabled: flag, interval: text(), labels: texts }),
    prometheusRule: own({ enabled: flag, labels: texts }),
    dashboards: own({ enabled: flag, labels: texts }),
  }),
  serviceAccount: own({ create: flag, name: text(), annotations: texts }),
  podLabels: texts,
  extraVolumes: theirList,
  extraVolumeMounts: theirList,
  tests: own({ apiKeySecret: text(), apiKeyKey: text(), tool: text(), arguments: text() }),
};

/** References of a schema start at the root of the whole: what they name moves there with it. */
function valuesSchema({ $schema, $defs, ...gateway }) {
  const title = 'Values of the chart unified-tool-executor';
  return { $schema, title, ...($defs && { $defs }), ...own({ ...VALUES, config: gateway }) };
}

/** The same schema, where these settings need not be given: they come from the environment. */
function withoutRequired(schema, paths) {
  const copy = structuredClone(schema);
  for (const path of paths) {
    const parent = path.slice(0, -1).reduce((at, key) => at?.properties?.[key], copy);
    if (parent?.required) parent.required = parent.required.filter((name) => name !== path.at(-1));
  }
  return copy;
}

/** `gateway`: the JSON Schema of gateway.yaml, `secrets` the paths of those in it; `files`: what else is generated, by path. */
export function chartFiles(gateway, secrets, files) {
  const monitoring = Object.entries(files)
    .map(([path, content]) => [
      /^deploy\/(prometheus|grafana)\/[^/]+\.(?:yaml|json)$/.exec(path)?.[1],
      path,
      content,
    ])
    .filter(([folder]) => folder !== undefined)
    .map(([folder, path, content]) => [`${CHART}/files/${folder}/${basename(path)}`, content]);
  return {
    [`${CHART}/values.schema.json`]: `${JSON.stringify(valuesSchema(withoutRequired(gateway, secrets)), null, 2)}\n`,
    ...Object.fromEntries(monitoring),
  };
}
