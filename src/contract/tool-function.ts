// ToolFunction: one callable of a tool. A plain tool has one; a tool with actions has one per action.
import type { JsonObject, JsonSchema } from './json.ts';
import type { ActionParameter, ToolAction, ToolSpec } from './tool-spec.ts';

export interface ToolFunction {
  /** What agents call: the tool's name, or `tool.action`. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly spec: ToolSpec;
  readonly action?: ToolAction;
}

/** Lists what can be called of a tool: itself, or each of its actions. */
export function functionsOf(spec: ToolSpec): readonly ToolFunction[] {
  if (spec.actions === undefined) {
    const { name, description, inputSchema, outputSchema } = spec;
    return [{ name, description, inputSchema, outputSchema, spec }];
  }
  return spec.actions.map((action) => ({
    name: `${spec.name}.${action.name}`,
    description: action.returns ? `${action.description}\nReturns: ${action.returns}` : action.description,
    inputSchema: schemaOfParameters(action.parameters),
    spec,
    action,
  }));
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
