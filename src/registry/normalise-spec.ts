// From a checked declaration, snake_case, to the ToolSpec: defaults filled in, durations counted, content hashed.
import type { JsonObject, JsonSchema, JsonValue } from '../contract/json.ts';
import type { RawDeclaration } from '../contract/tool/loaded-tools.ts';
import {
  isUnsafe,
  type ActionParameter,
  type ConcurrencyLimit,
  type RateLimit,
  type ResultBudget,
  type ToolAction,
  type ToolIcon,
  type ToolMetadata,
  type ToolSpec,
} from '../contract/tool/tool-spec.ts';
import type { ToolRoute } from '../contract/tool/tool-route.ts';
import { canonicalHash } from '../lib/json/canonical-json.ts';
import { authOf } from './checks/agents/auth-fields.ts';
import { executorNameOf } from './checks/check-executor.ts';
import { asConfigSchema, asInputSchema } from './checks/check-schemas.ts';
import { parseDuration } from '../lib/text/duration.ts';
import type { ActionDeclaration, ParameterDeclaration, ToolDeclaration } from './checks/tool-spec-schema.ts';

export function normaliseSpec(
  declared: ToolDeclaration,
  { baseDir, foreign, origin }: Pick<RawDeclaration, 'baseDir' | 'foreign' | 'origin'>,
): ToolSpec {
  const { output_schema: outputSchema, config_schema: configSchema, actions, priority } = declared;
  const budget = budgetOf(declared);
  const metadata = metadataOf(declared.metadata);
  const auth = authOf(declared);
  const content: Omit<ToolSpec, 'baseDir' | 'contentHash'> = {
    name: declared.name,
    description: declared.description,
    toolType: executorNameOf(declared.tool_type),
    inputSchema: asInputSchema(declared.input_schema as JsonSchema | undefined),
    ...(outputSchema && { outputSchema: outputSchema as JsonSchema }),
    ...(actions && { actions: actions.map(actionOf) }),
    implementationConfig: declared.implementation_config as JsonObject,
    metadata,
    timeoutMs: declared.timeout_ms,
    ...(priority !== undefined && { priority }),
    ...limitsOf(declared, metadata),
    ...(budget && { resultBudget: budget }),
    extensions: declared.extensions as Record<string, JsonObject>,
    ...(configSchema && { configSchema: asConfigSchema(configSchema as JsonObject).schema }),
    ...(auth && { auth }),
    ...(foreign && { foreign }),
    ...(origin && { origin }),
    ...(declared.canary && { canary: declared.canary }),
    ...(declared.routes && { routes: declared.routes.map(routeOf) }),
  };
  return { ...content, baseDir, contentHash: canonicalHash(content) };
}

function routeOf({ deprecated, ...route }: NonNullable<ToolDeclaration['routes']>[number]): ToolRoute {
  if (deprecated === undefined) return route;
  const { since, successor } = deprecated;
  return { ...route, deprecated: { since, ...(successor !== undefined && { successor }) } };
}

function budgetOf(declared: ToolDeclaration): ResultBudget | undefined {
  const { max_result_bytes: maxBytes, max_result_items: maxItems } = declared;
  if (maxBytes === undefined && maxItems === undefined) return undefined;
  return { ...(maxBytes !== undefined && { maxBytes }), ...(maxItems !== undefined && { maxItems }) };
}

/** Retrieval reads, and reading twice does no harm: the condition for retries. */
export function effectsOf(
  metadata: ToolDeclaration['metadata'],
): Pick<ToolMetadata, 'readOnly' | 'idempotent'> {
  const isRetrieval = metadata.category === 'retrieval';
  return { readOnly: metadata.read_only ?? isRetrieval, idempotent: metadata.idempotent ?? isRetrieval };
}

function metadataOf(declared: ToolDeclaration['metadata']): ToolMetadata {
  const { category, cost, title, icons, summary, documentation } = declared;
  return {
    version: declared.version,
    ...(category !== undefined && { category }),
    permissions: declared.permissions,
    riskLevel: declared.risk_level,
    isDangerous: declared.is_dangerous,
    requiresApproval: declared.requires_approval ?? declared.requiresConfirmation ?? false,
    ...effectsOf(declared),
    modes: declared.modes,
    tags: declared.tags,
    ...(cost !== undefined && { cost }),
    ...(declared.legacy_execute === true && { legacyExecute: true as const }),
    ...(title !== undefined && { title }),
    ...(icons !== undefined && { icons: icons.map(iconOf) }),
    ...(declared.internal === true && { internal: true as const }),
    ...(declared.tenants !== undefined && { tenants: declared.tenants }),
    ...(summary !== undefined && { summary }),
    ...(documentation !== undefined && { documentation }),
  };
}

function iconOf({
  src,
  mime_type: mimeType,
  sizes,
  theme,
}: NonNullable<ToolDeclaration['metadata']['icons']>[number]): ToolIcon {
  return {
    src,
    ...(mimeType !== undefined && { mimeType }),
    ...(sizes !== undefined && { sizes }),
    ...(theme !== undefined && { theme }),
  };
}

function limitsOf(
  declared: ToolDeclaration,
  metadata: ToolMetadata,
): Pick<ToolSpec, 'retries' | 'concurrency' | 'rateLimits'> {
  const { retries, concurrency, timeout_ms: timeoutMs } = declared;
  return {
    ...(retries && {
      retries: {
        maxAttempts: retries.max_attempts,
        baseDelayMs: retries.base_delay_ms,
        maxDelayMs: retries.max_delay_ms,
      },
    }),
    ...(concurrency && {
      concurrency: listOf(concurrency).map((one) => concurrencyOf(one, timeoutMs, metadata)),
    }),
    rateLimits: declared.rate_limits.map((one) => rateLimitOf(one, metadata)),
  };
}

type ConcurrencyDeclaration = Extract<ToolDeclaration['concurrency'], readonly unknown[]>[number];

/** One limit may be written without the list. */
export function listOf(
  declared: NonNullable<ToolDeclaration['concurrency']>,
): readonly ConcurrencyDeclaration[] {
  return Array.isArray(declared) ? declared : [declared];
}

function concurrencyOf(
  declared: ConcurrencyDeclaration,
  timeoutMs: number,
  metadata: ToolMetadata,
): ConcurrencyLimit {
  return {
    limit: declared.limit,
    per: declared.per,
    maxQueue: declared.max_queue,
    maxWaitMs: declared.max_wait_ms ?? timeoutMs,
    onStoreFailure: declared.on_store_failure ?? onStoreFailureOf(metadata),
    onLeaseLost: declared.on_lease_lost ?? (metadata.readOnly ? 'continue' : 'cancel'),
  };
}

/** What does harm must not run uncounted. */
function onStoreFailureOf(metadata: ToolMetadata) {
  return isUnsafe(metadata) ? 'closed' : 'local';
}

function rateLimitOf(declared: ToolDeclaration['rate_limits'][number], metadata: ToolMetadata): RateLimit {
  const { per, rate, period, burst, mode } = declared;
  const periodMs = parseDuration(period);
  if (periodMs === undefined) throw new Error(`the period "${period}" passed its check and is no duration`);
  const onStoreFailure = declared.on_store_failure ?? onStoreFailureOf(metadata);
  return { per, rate, periodMs, burst: burst ?? rate, onStoreFailure, mode };
}

function actionOf({ name, description, parameters, returns }: ActionDeclaration): ToolAction {
  return {
    name,
    description,
    parameters: parameters.map(parameterOf),
    ...(returns !== undefined && { returns }),
  };
}

function parameterOf(declared: ParameterDeclaration): ActionParameter {
  const { name, type, required, description, default: fallback, default_from_config: field } = declared;
  const { enum: allowed, min_value: min, max_value: max, items, properties } = declared;
  return {
    name,
    type,
    required,
    ...(description !== undefined && { description }),
    ...(fallback !== undefined && { default: fallback as JsonValue }),
    ...(field !== undefined && { defaultFromConfig: field }),
    ...(allowed && { enum: allowed as JsonValue[] }),
    ...(items && { items: items as JsonSchema }),
    ...(properties && { properties: properties as { [name: string]: JsonSchema } }),
    ...(declared.required_properties && { requiredProperties: declared.required_properties }),
    ...(min !== undefined && { minValue: min }),
    ...(max !== undefined && { maxValue: max }),
  };
}
