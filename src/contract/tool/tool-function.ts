// ToolFunction: one callable of a tool. A plain tool has one; a tool with actions has one per action.
import type { Principal } from '../call/principal.ts';
import { isJsonObject, type JsonObject, type JsonSchema } from '../json.ts';
import type { ActionParameter, ToolAction, ToolSpec } from './tool-spec.ts';

export interface ToolFunction {
  /** What agents call: the tool's name, or `tool.action`. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly spec: ToolSpec;
  readonly action?: ToolAction;
  /** The defaults that config_schema declares: what every agent's config starts from. */
  readonly configDefaults: JsonObject;
  /** How many calls of all tools may run over the function's connection. */
  readonly connectionLimit?: ConnectionLimit;
  /**
   * Only on the deprecated `execute(action, details)` of a tool with actions: the functions it stands for. Nothing
   * runs under its own name: the core turns the call into one of these, with all that is asked of such a call.
   */
  readonly byAction?: ReadonlyMap<string, ToolFunction>;
  /** Asked when a human is to agree to a call, and when that call runs. Left out: the declaration's text is all there is. */
  readonly whatRuns?: WhatRuns;
  /** Names of the tools that a call with these arguments is about: what they run is part of what a human agrees to. */
  readonly callsOf?: (args: JsonObject) => readonly string[];
}

export interface KnownTool {
  readonly function: ToolFunction;
  /** Left out: lists show it to everybody. */
  readonly isShownTo?: ShownTo;
}

/** Whether whoever asks is shown a tool. Answered from memory. */
export type ShownTo = (viewer: Viewer) => boolean;

/** Who asks which tools there are. */
export interface Viewer {
  readonly principal: Principal;
}

/** Finds the tools that others call. */
export interface KnownTools {
  find(name: string): KnownTool | undefined;
}

/**
 * A hash of all of it: the declaration, its connection with host and credentials, the content of a handler or of modules,
 * the tools that its steps call. Undefined: it is changing at this moment. `seen` holds those that are part of it already.
 */
export type WhatRuns = (tools: KnownTools, seen?: Set<string>) => Promise<string | undefined>;

/** What runs when it is called: more than its declaration's text, and what a human agrees to when approving a call. */
export async function whatRuns(fn: ToolFunction, tools: KnownTools): Promise<string | undefined> {
  return fn.whatRuns === undefined ? fn.spec.contentHash : fn.whatRuns(tools);
}

/**
 * The same for one call: what is configured for its agent runs, too, and another configuration is another thing to agree to.
 * Without any, it is what runs.
 */
export async function whatCallRuns(
  { snapshot, agentTool, arguments: args }: CallThatRuns,
  fn: ToolFunction,
): Promise<string | undefined> {
  let runs = await whatRuns(fn, snapshot);
  for (const name of fn.callsOf?.(args) ?? []) {
    const named = snapshot.find(name)?.function;
    const its = named === undefined ? '' : await whatRuns(named, snapshot);
    runs = runs === undefined || its === undefined ? undefined : `${runs}/${its}`;
  }
  return agentTool === undefined || runs === undefined ? runs : `${runs}+${agentTool.revision}`;
}

interface CallThatRuns {
  readonly snapshot: KnownTools;
  readonly agentTool?: { readonly revision: number };
  readonly arguments: JsonObject;
}

export interface ConnectionLimit {
  readonly connection: string;
  readonly limit: number;
  readonly maxQueue: number;
  /** Left out: as long as the tool's own time. */
  readonly maxWaitMs?: number;
}

/** The functions as they are called over a connection that has a limit. */
export function overConnection(
  functions: readonly ToolFunction[],
  connectionLimit: ConnectionLimit,
): readonly ToolFunction[] {
  const limited = new Map(functions.map((fn) => [fn, { ...fn, connectionLimit }]));
  const under = (fn: ToolFunction) => limited.get(fn) ?? fn;
  return functions.map((fn) => {
    if (fn.byAction === undefined) return under(fn);
    const byAction = new Map([...fn.byAction].map(([name, target]) => [name, under(target)]));
    return { ...under(fn), byAction };
  });
}

/** Lists what can be called of a tool: itself, or each of its actions; last, where asked for, the legacy form. */
export function functionsOf(spec: ToolSpec): readonly ToolFunction[] {
  const configDefaults = Object.freeze(defaultsOf(spec.configSchema));
  if (spec.actions === undefined) {
    const { name, description, inputSchema, outputSchema } = spec;
    return [{ name, description, inputSchema, outputSchema, spec, configDefaults }];
  }
  const functions = spec.actions.map((action) => ({
    name: `${spec.name}.${action.name}`,
    description: action.returns ? `${action.description}\nReturns: ${action.returns}` : action.description,
    inputSchema: schemaOfParameters(action.parameters, spec.undeclaredArguments !== 'allow'),
    spec,
    action,
    configDefaults,
  }));
  return spec.metadata.legacyExecute === true ? [...functions, legacyFunction(spec, functions)] : functions;
}

function legacyFunction(
  spec: ToolSpec,
  functions: readonly (ToolFunction & { readonly action: ToolAction })[],
): ToolFunction {
  const names = functions.map(({ name }) => name).join(', ');
  return {
    name: spec.name,
    description: `${spec.description}\nDeprecated: call ${names} instead.`,
    inputSchema: {
      type: 'object',
      properties: {
        action: { type: 'string', enum: functions.map(({ action }) => action.name) },
        details: {
          description: 'The arguments of the action, as an object or as the JSON text of one.',
          type: ['object', 'string', 'null'],
        },
      },
      required: ['action'],
      additionalProperties: false,
    },
    spec,
    configDefaults: functions[0]?.configDefaults ?? {},
    byAction: new Map(functions.map((fn) => [fn.action.name, fn])),
  };
}

function defaultsOf(schema: JsonSchema | undefined): JsonObject {
  const defaults: JsonObject = {};
  const properties = schema?.['properties'];
  if (!isJsonObject(properties)) return defaults;
  for (const [name, property] of Object.entries(properties)) {
    if (isJsonObject(property) && property['default'] !== undefined) defaults[name] = property['default'];
  }
  return defaults;
}

/** Makes the JSON Schema (2020-12) that typed parameters stand for. */
function schemaOfParameters(parameters: readonly ActionParameter[], isClosed: boolean): JsonSchema {
  const properties: JsonObject = {};
  for (const parameter of parameters) properties[parameter.name] = schemaOfParameter(parameter);
  return {
    type: 'object',
    properties,
    required: parameters.filter((parameter) => parameter.required).map((parameter) => parameter.name),
    ...(isClosed && { additionalProperties: false }),
  };
}

function schemaOfParameter(parameter: ActionParameter): JsonSchema {
  const schema: JsonObject =
    parameter.type === 'datetime' ? { type: 'string', format: 'date-time' } : { type: parameter.type };
  if (parameter.description !== undefined) schema['description'] = parameter.description;
  if (parameter.items !== undefined) schema['items'] = parameter.items;
  if (parameter.properties !== undefined) schema['properties'] = { ...parameter.properties };
  if (parameter.requiredProperties !== undefined) schema['required'] = [...parameter.requiredProperties];
  if (parameter.enum !== undefined) schema['enum'] = [...parameter.enum];
  if (parameter.minValue !== undefined) schema['minimum'] = parameter.minValue;
  if (parameter.maxValue !== undefined) schema['maximum'] = parameter.maxValue;
  if (parameter.default !== undefined) schema['default'] = parameter.default;
  return schema;
}
