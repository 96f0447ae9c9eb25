// Checks one declaration, everything at once: what is wrong in one field does not hide what is wrong in another.
import { isJsonObject, type JsonObject, type JsonSchema } from '../../contract/json.ts';
import type { RawDeclaration } from '../../contract/tool/loaded-tools.ts';
import { functionsOf } from '../../contract/tool/tool-function.ts';
import type { ToolSpec } from '../../contract/tool/tool-spec.ts';
import type { ConnectionUse } from './check-connections.ts';
import { checkExecutor, executorNameOf, type ExecutorCheck, type Parameters } from './check-executor.ts';
import { faultsOfActions } from './actions/check-actions.ts';
import {
  faultsBesideActions,
  faultsOfConfigSchema,
  faultsOfInputSchema,
  faultsOfOutputSchema,
} from './check-schemas.ts';
import { faultsOf, foundText, MOST_FAULTS, unknownKey, type Fault } from '../../lib/faults/faults.ts';
import { faultsOfLimits } from './check-limits.ts';
import { faultsOfRoutes } from './routes/check-routes.ts';
import { fallenOut } from '../../lib/tools-yaml/fallen-out.ts';
import { countTokens } from '../../lib/json-schema/lint/schema-size.ts';
import { effectsOf, normaliseSpec } from '../normalise-spec.ts';
import { faultsOfPlainValues } from '../plain-values.ts';
import type { CheckedTool, SpecRules } from '../spec-rules.ts';
import { toolDeclarationSchema, type ToolDeclaration } from './tool-spec-schema.ts';
import { agentFields } from './agents/agent-fields.ts';
import { faultsOfAuth, faultsOfProvider, managedAuthOf } from './agents/auth-fields.ts';

/** Many times what the largest schemas hold; each further one would be looked at on the event loop. */
const MOST_VALUES = 16_000;

/** Either the tool, or what is wrong with it as far as it could be read. */
export type ToolCheck =
  | { readonly checked: CheckedTool }
  | { readonly faults: readonly Fault[]; readonly uses?: ConnectionUse };

export function checkTool(declaration: RawDeclaration, rules: SpecRules): ToolCheck {
  const { value, foreign, origin } = declaration;
  if (!isJsonObject(value))
    return { faults: [{ path: [], message: `expected a map with a name, ${foundText(value)}` }] };
  if (countTokens(value, MOST_VALUES) >= MOST_VALUES)
    return { faults: [{ path: [], message: `holds ${MOST_VALUES} values or more: divide the tool` }] };
  const impossible = faultsOfPlainValues(value);
  if (impossible.length > 0) return { faults: impossible };
  const shape = parseShape(value);
  const { declared, faults: ofShape } = shape;
  const executor = checkOptions(shape, rules);
  const extensions = checkExtensions(declared.extensions ?? {}, rules);
  const ofMeaning = faultsOfMeaning(declared, foreign !== undefined);
  const ofProvider = faultsOfProvider(
    declared,
    executorNameOf(declared.tool_type ?? ''),
    rules.oauthProviders,
  );
  const ofRoutes = faultsOfRoutes(declared, foreign === undefined && origin === undefined);
  const faults = [
    ...ofShape,
    ...ofMeaning,
    ...ofRoutes,
    ...ofProvider,
    ...executor.faults,
    ...extensions.faults,
  ];
  const { options, connectionName } = executor;
  if (faults.length > 0)
    return { faults, uses: { connectionName, toolType: executorNameOf(declared.tool_type ?? '') } };
  const spec = shaped(normaliseSpec(declared as ToolDeclaration, declaration), extensions.options, rules);
  const ofOptions = faultsOfExtensionOptions(spec, extensions.options, rules);
  if (ofOptions.length > 0) return { faults: ofOptions, uses: { connectionName, toolType: spec.toolType } };
  return { checked: { spec, options, extensionOptions: extensions.options, connectionName, declaration } };
}

interface Shape {
  /** Fields that are wrong in themselves are left out, so that the others can be checked further. */
  readonly declared: Partial<ToolDeclaration>;
  readonly wrong: ReadonlySet<string>;
  readonly faults: readonly Fault[];
}

const FIELDS: ReadonlySet<string> = new Set(Object.keys(toolDeclarationSchema.shape));

function parseShape(value: JsonObject): Shape {
  const parsed = toolDeclarationSchema.safeParse(value);
  if (parsed.success) return { declared: parsed.data, wrong: new Set(), faults: [] };
  const declared: Record<string, unknown> = {};
  const wrong = new Set<string>();
  for (const [field, schema] of Object.entries(toolDeclarationSchema.shape)) {
    const own = schema.safeParse(value[field]);
    if (own.success) declared[field] = own.data;
    else wrong.add(field);
  }
  const fallen = fallenOut(value, FIELDS);
  const explained = new Set(fallen.flatMap(({ explains }) => explains));
  const others = faultsOf(parsed.error, { schema: toolDeclarationSchema, value }).filter(
    ({ path }) => path.length !== 1 || !explained.has(String(path[0])),
  );
  const faults = fallen.map(({ key, message }): Fault => ({ path: [key], isKey: true, message }));
  return { declared, wrong, faults: [...faults, ...others] };
}

/** `isLinted`: the loader has looked at the schemas of arguments and results already. */
function faultsOfMeaning(declared: Partial<ToolDeclaration>, isLinted: boolean): readonly Fault[] {
  const { input_schema: input, output_schema: output, config_schema: config, actions, name = '' } = declared;
  return [
    ...(input === undefined ? [] : faultsOfInputSchema(input as JsonSchema, isLinted)),
    ...(output === undefined || isLinted ? [] : faultsOfOutputSchema(output as JsonSchema)),
    ...(config === undefined ? [] : faultsOfConfigSchema(config as JsonObject)),
    ...(actions === undefined
      ? []
      : [...faultsBesideActions(declared), ...faultsOfActions(name, actions, agentFields(declared).config)]),
    ...faultsOfRetries(declared),
    ...faultsOfLimits(declared),
    ...faultsOfApproval(declared.metadata),
    ...faultsOfLegacy(declared),
    ...faultsOfAuth(declared),
  ];
}

function faultsOfLegacy({ actions, metadata }: Partial<ToolDeclaration>): readonly Fault[] {
  if (metadata?.legacy_execute !== true || actions !== undefined) return [];
  const message = 'is for a tool with actions: this one is called by its own name already';
  return [{ path: ['metadata', 'legacy_execute'], isKey: true, message }];
}

function faultsOfRetries({ retries, metadata }: Partial<ToolDeclaration>): readonly Fault[] {
  if (retries === undefined) return [];
  const faults: Fault[] = [];
  const { max_attempts: attempts, base_delay_ms: base, max_delay_ms: max } = retries;
  if (base > max)
    faults.push({
      path: ['retries', 'base_delay_ms'],
      message: `base_delay_ms ${base} is greater than max_delay_ms ${max}`,
    });
  if (attempts > 1 && metadata !== undefined) {
    const { readOnly, idempotent } = effectsOf(metadata);
    const message =
      'a tool is retried only if its metadata says idempotent: true or read_only: true; say so, or leave retries out';
    if (!readOnly && !idempotent) faults.push({ path: ['retries'], isKey: true, message });
  }
  return faults;
}

function faultsOfApproval(metadata: ToolDeclaration['metadata'] | undefined): readonly Fault[] {
  const { requires_approval: own, requiresConfirmation: alias } = metadata ?? {};
  if (own === undefined || alias === undefined || own === alias) return [];
  const message =
    'requires_approval and requiresConfirmation mean the same and say different things: keep one';
  return [{ path: ['metadata', 'requiresConfirmation'], isKey: true, message }];
}

function checkOptions(shape: Shape, rules: SpecRules): ExecutorCheck {
  const { tool_type: toolType, implementation_config: config } = shape.declared;
  if (toolType === undefined) return { faults: [] };
  return checkExecutor(
    toolType,
    config as JsonObject | undefined,
    parametersOf(shape, rules.oauthProviders),
    rules,
  );
}

function parametersOf(
  { declared, wrong }: Shape,
  providers: SpecRules['oauthProviders'],
): Parameters | undefined {
  if (wrong.has('actions') || wrong.has('input_schema')) return undefined;
  const { actions, input_schema: inputSchema } = declared;
  const isKnown = !['config_schema', 'auth', 'auth_type'].some((field) => wrong.has(field));
  const own = { actions, inputSchema: inputSchema as JsonSchema | undefined };
  return isKnown ? { ...own, ofAgent: agentFields(declared, providers) } : own;
}

interface ExtensionCheck {
  readonly options: { readonly [extension: string]: unknown };
  readonly faults: readonly Fault[];
}

function checkExtensions(declared: ToolDeclaration['extensions'], rules: SpecRules): ExtensionCheck {
  const options: Record<string, unknown> = {};
  const faults: Fault[] = [];
  for (const [name, own] of Object.entries(declared).slice(0, MOST_FAULTS)) {
    const extension = rules.extensions.get(name);
    if (extension === undefined) {
      const { message, ...fault } = unknownKey(['extensions', name], name, [...rules.extensions.keys()]);
      faults.push({ ...fault, message: message.replace('unknown key', 'there is no extension') });
      continue;
    }
    const parsed = extension.optionsSchema.safeParse({ ...extension.defaults, ...own });
    if (parsed.success) options[name] = parsed.data;
    else
      faults.push(
        ...faultsOf(parsed.error, {
          schema: extension.optionsSchema,
          value: own,
          base: ['extensions', name],
        }),
      );
  }
  return { options, faults };
}

/** The content's hash stays that of the declaration: what is done to it here follows from it and from the gateway's settings. */
function shaped(spec: ToolSpec, options: ExtensionCheck['options'], rules: SpecRules): ToolSpec {
  const managed = managedAuthOf(spec.auth, rules.oauthProviders);
  let current = managed && spec.auth ? { ...spec, auth: { ...spec.auth, managed } } : spec;
  for (const extension of rules.extensions.values()) {
    if (extension.shape === undefined) continue;
    const own = options[extension.name] ?? extension.optionsSchema.parse(extension.defaults ?? {});
    current = extension.shape(current, own);
  }
  return current;
}

/** What the extensions themselves say of their options, now that there is a tool to hold them against. */
function faultsOfExtensionOptions(
  spec: ToolSpec,
  options: ExtensionCheck['options'],
  rules: SpecRules,
): readonly Fault[] {
  if (Object.keys(options).length === 0) return [];
  const faults = new Map<string, Fault>();
  const functions = functionsOf(spec).filter(({ byAction }) => byAction === undefined);
  for (const [name, own] of Object.entries(options)) {
    for (const fn of functions) {
      for (const { path, message } of rules.extensions.get(name)?.check?.(fn, own) ?? [])
        faults.set(`${path.join('.')} ${message}`, { path: ['extensions', name, ...path], message });
    }
  }
  return [...faults.values()];
}
