// ToolFunction: one callable of a tool. A plain tool has one; a tool with actions has one per action.
import { isJsonObject, type JsonObject, type JsonSchema } from './json.ts';
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
}

/** Lists what can be called of a tool: itself, or each of its actions. */
export function functionsOf(spec: ToolSpec): readonly ToolFunction[] {
  const configDefaults = Object.freeze(defaultsOf(spec.configSchema));
  if (spec.actions === undefined) {
    const { name, description, inputSchema, outputSchema } = spec;
    return [{ name, description, inputSchema, outputSchema, spec, configDefaults }];
  }
  return spec.actions.map((action) => ({
    name: `${spec.name}.${action.name}`,
    description: action.returns ? `${action.description}\nReturns: ${action.returns}` : action.description,
    inputSchema: schemaOfParameters(action.parameters),
    spec,
    action,
    configDefaults,
  }));
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

/** Makes the JSON Schema (2020-12) that typed parameters stand for. Unknown arguments are refused. */
export function schemaOfParameters(parameters: readonly ActionParameter[]): JsonSchema {
  const properties: JsonObject = {};
  for (const parameter of parameters) properties[parameter.name] = schemaOfParameter(parameter);
  return {
    type: 'object',
    properties,
    required: parameters.filter((parameter) => parameter.required).map((parameter) => parameter.name),
    additionalProperties: false,
  };
}

function schemaOfParameter(parameter: ActionParameter): JsonSchema {
  const schema: JsonObject =
    parameter.type === 'datetime' ? { type: 'string', format: 'date-time' } : { type: parameter.type };
  if (parameter.description !== undefined) schema['description'] = parameter.description;
  if (parameter.enum !== undefined) schema['enum'] = [...parameter.enum];
  if (parameter.minValue !== undefined) schema['minimum'] = parameter.minValue;
  if (parameter.maxValue !== undefined) schema['maximum'] = parameter.maxValue;
  if (parameter.default !== undefined) schema['default'] = parameter.default;
  return schema;
}
