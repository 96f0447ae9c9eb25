// Checks of a tool against its executor: that there is one, that its options fit, that every placeholder is a parameter.
import { isJsonObject, type JsonObject, type JsonSchema } from '../../contract/json.ts';
import { didYouMean } from '../../lib/text/did-you-mean.ts';
import { fromPointer } from '../../lib/json/json-pointer.ts';
import { faultsOf, type Fault } from '../../lib/faults/faults.ts';
import type { SpecRules } from '../spec-rules.ts';
import type { ActionDeclaration } from './tool-spec-schema.ts';

/** What a definition may call an executor besides its own name. */
const ALIASES: Readonly<Record<string, string>> = { sandbox: 'shell' };

export function executorNameOf(toolType: string): string {
  return Object.hasOwn(ALIASES, toolType) ? (ALIASES[toolType] ?? toolType) : toolType;
}

export interface ExecutorCheck {
  readonly faults: readonly Fault[];
  readonly options?: unknown;
  readonly connectionName?: string;
}

/** What may be set per agent: names of members. */
export interface AgentFields {
  readonly config: readonly string[];
  /** Undefined: any. */
  readonly sensitive_config: readonly string[] | undefined;
}

/** What the placeholders may name: undefined where the declaration of parameters is wrong in itself. */
export interface Parameters {
  readonly inputSchema?: JsonSchema;
  readonly actions?: readonly ActionDeclaration[];
  /** What may be set per agent: names in config, and in sensitive_config. Undefined: any, as far as can be told. */
  readonly ofAgent?: AgentFields;
}

export function checkExecutor(
  toolType: string,
  config: JsonObject | undefined,
  parameters: Parameters | undefined,
  rules: SpecRules,
): ExecutorCheck {
  const plugin = rules.executors.get(executorNameOf(toolType));
  if (plugin === undefined) return { faults: [unknownExecutor(toolType, [...rules.executors.keys()])] };
  if (config === undefined) return { faults: [] };
  const parsed = plugin.optionsSchema.safeParse(config);
  if (!parsed.success) {
    return {
      faults: faultsOf(parsed.error, {
        schema: plugin.optionsSchema,
        value: config,
        base: ['implementation_config'],
      }),
    };
  }
  const options = parsed.data;
  const placeholders = parameters === undefined ? [] : (plugin.placeholders?.(options) ?? []);
  const faults = placeholders.flatMap(({ name, path }) =>
    name.includes('.')
      ? faultsOfAgentPlaceholder(name, path, parameters ?? {})
      : faultsOfPlaceholder(name, path, parameters ?? {}),
  );
  const named =
    plugin.connectionTypes !== undefined && isJsonObject(options) ? options['connection'] : undefined;
  return { faults, options, connectionName: typeof named === 'string' ? named : undefined };
}

function unknownExecutor(toolType: string, known: readonly string[]): Fault {
  const name = executorNameOf(toolType);
  const written = name === toolType ? `"${toolType}"` : `"${toolType}" (${name})`;
  const near = didYouMean(toolType, known);
  const hint = near === undefined ? '' : `; did you mean "${near}"?`;
  const message = `${written}: there is no executor of this name here; known: ${known.toSorted().join(', ')}${hint}`;
  return { path: ['tool_type'], message };
}

/** `{config.name}` and `{sensitive_config.name}`. */
function faultsOfAgentPlaceholder(
  placeholder: string,
  path: readonly string[],
  { ofAgent }: Parameters,
): readonly Fault[] {
  const [part = 'config', name = ''] = placeholder.split('.');
  const { config = [], sensitive_config: secrets = [] } = ofAgent ?? {};
  const [own, other] = part === 'config' ? [config, secrets] : [secrets, config];
  const isAny = ofAgent === undefined || (part !== 'config' && ofAgent.sensitive_config === undefined);
  if (isAny || own.includes(name)) return [];
  const near = didYouMean(name, own);
  const instead = other.includes(name)
    ? `: it is in ${part === 'config' ? 'sensitive_config' : 'config'}`
    : near === undefined
      ? ''
      : `; did you mean {${part}.${near}}?`;
  const message = `{${placeholder}} is nothing that config_schema has in ${part}${instead}`;
  return [{ path: ['implementation_config', ...path], message }];
}

function faultsOfPlaceholder(
  name: string,
  path: readonly string[],
  parameters: Parameters,
): readonly Fault[] {
  const [first, second] = path;
  const ofOneAction = first === 'actions' && parameters.actions?.some((action) => action.name === second);
  const targets = ofOneAction
    ? parameters.actions?.filter((action) => action.name === second)
    : parameters.actions;
  const sets = targets?.map((action) => ({
    of: `the action ${action.name}`,
    names: action.parameters.map((one) => one.name),
  }));
  const known = sets ?? [{ of: 'this tool', names: propertyNames(parameters.inputSchema ?? {}) }];
  return known
    .filter(({ names }) => !names.includes(name))
    .map(({ of, names }) => {
      const near = didYouMean(name, names);
      const hint = near === undefined ? '' : `; did you mean {${near}}?`;
      return {
        path: ['implementation_config', ...path],
        message: `{${name}} is not a parameter of ${of}${hint}`,
      };
    });
}

const MAX_NESTING = 16;

/** Names of all properties that a schema of arguments speaks of, its combined and referenced parts included. */
export function propertyNames(root: JsonSchema): readonly string[] {
  const names = new Set<string>();
  const collect = (schema: unknown, depth: number): void => {
    if (!isJsonObject(schema) || depth > MAX_NESTING) return;
    if (isJsonObject(schema['properties']))
      for (const name of Object.keys(schema['properties'])) names.add(name);
    for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
      const parts = schema[keyword];
      if (Array.isArray(parts)) for (const part of parts) collect(part, depth + 1);
    }
    for (const keyword of ['if', 'then', 'else']) collect(schema[keyword], depth + 1);
    if (typeof schema['$ref'] === 'string') collect(referenced(root, schema['$ref']), depth + 1);
  };
  collect(root, 0);
  return [...names];
}

function referenced(root: JsonSchema, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined;
  let at: unknown = root;
  for (const step of fromPointer(reference.slice(1))) {
    if (typeof at !== 'object' || at === null) return undefined;
    at = (at as Record<string, unknown>)[step];
  }
  return at;
}
