// The JSON Schema of a file of tools, made from the schemas that check it, so that editors complete what the gateway accepts.
import { z, type ZodType } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import type { SpecRules } from '../spec-rules.ts';
import { connectionLimitSchema, toolDeclarationSchema } from './tool-spec-schema.ts';

/** Draft-07: the dialect that editors know best. */
const DIALECT = 'http://json-schema.org/draft-07/schema#';

export function toolsFileSchema(rules: SpecRules): JsonObject {
  const definitions = new Definitions();
  const tool = toolSchema(rules, definitions);
  const connection = connectionSchema(rules, definitions);
  return {
    $schema: DIALECT,
    title: 'Tools and connections of a UnifiedToolExecutor',
    type: 'object',
    additionalProperties: false,
    properties: {
      connections: {
        description:
          'Pools, hosts and secrets, apart from tools. Values may hold ${env:NAME} and ${file:path}.',
        type: ['object', 'null'],
        additionalProperties: connection,
      },
      tools: { description: 'What agents can call.', type: ['array', 'null'], items: tool },
    },
    definitions: definitions.all(),
  };
}

function toolSchema(rules: SpecRules, definitions: Definitions): JsonObject {
  const tool = definitions.take('tool', toolDeclarationSchema);
  const properties = tool['properties'] as JsonObject;
  const types = [...rules.executors.keys()].toSorted();
  const words = rules.executors.has('shell') ? [...types, 'sandbox'] : types;
  properties['tool_type'] = { ...(properties['tool_type'] as JsonObject), enum: words };
  const extensions: JsonObject = {};
  for (const { name, optionsSchema } of rules.extensions.values()) {
    extensions[name] = definitions.refer(`extension.${name}`, optionsSchema);
  }
  const { description = '' } = properties['extensions'] as JsonObject;
  properties['extensions'] = {
    description,
    type: 'object',
    properties: extensions,
    additionalProperties: false,
  };
  const branches = words.map((type): JsonObject => {
    const name = type === 'sandbox' ? 'shell' : type;
    const plugin = rules.executors.get(name);
    const options = plugin === undefined ? {} : definitions.refer(`executor.${name}`, plugin.optionsSchema);
    return branchOf('tool_type', type, { properties: { implementation_config: options } });
  });
  return { ...tool, allOf: branches };
}

function connectionSchema(rules: SpecRules, definitions: Definitions): JsonObject {
  const types = new Map<string, ZodType>();
  for (const { connectionTypes } of rules.executors.values()) {
    for (const [type, schema] of Object.entries(connectionTypes ?? {}))
      if (!types.has(type)) types.set(type, schema);
  }
  const concurrency = definitions.refer('connection_concurrency', connectionLimitSchema);
  const branches = [...types].map(([type, schema]) =>
    branchOf(
      'type',
      type,
      definitions.refer(`connection.${type}`, schema, (made) =>
        withProperty(withoutTextRules(made), 'concurrency', concurrency),
      ),
    ),
  );
  return {
    type: 'object',
    required: ['type'],
    properties: { type: { description: 'What kind of connection this is.', enum: [...types.keys()] } },
    ...(branches.length > 0 && { allOf: branches }),
  };
}

/** Where the field has this value, the schema holds as well. */
function branchOf(field: string, value: string, schema: JsonObject): JsonObject {
  return { if: { not: { properties: { [field]: { const: value } }, required: [field] } }, else: schema };
}

type Change = (schema: JsonObject) => JsonObject;

/** Each schema under a name of its own, with its inner references pointing there. */
class Definitions {
  readonly #made: JsonObject = {};

  refer(name: string, schema: ZodType, change: Change = (same) => same): JsonObject {
    if (this.#made[name] === undefined) this.#made[name] = change(this.take(name, schema));
    return { $ref: `#/definitions/${name}` };
  }

  /** The schema itself; what it defines for its own use is kept here. */
  take(name: string, schema: ZodType): JsonObject {
    const {
      $schema: _dialect,
      definitions = {},
      ...made
    } = z.toJSONSchema(schema, {
      target: 'draft-7',
      io: 'input',
      unrepresentable: 'any',
    }) as JsonObject;
    for (const [inner, definition] of Object.entries(definitions as JsonObject)) {
      this.#made[`${name}.${inner}`] = withReferences(definition, name);
    }
    return withReferences(made, name) as JsonObject;
  }

  all(): JsonObject {
    return this.#made;
  }
}

function withReferences(schema: JsonValue, name: string): JsonValue {
  return mapObjects(schema, (object) => {
    const reference = object['$ref'];
    if (typeof reference !== 'string') return object;
    const inner = reference.replace(/^#\/definitions\//, `${name}.`);
    return { ...object, $ref: `#/definitions/${inner === '#' ? name : inner}` };
  });
}

/** A reference such as ${env:URL} stands where the text will: its form cannot be judged before. */
function withoutTextRules(schema: JsonObject): JsonObject {
  const change: Change = ({ pattern: _pattern, format: _format, ...rest }) => rest;
  return mapObjects(schema, (object) =>
    object['type'] === 'string' ? change(object) : object,
  ) as JsonObject;
}

/** What the gateway itself reads of every connection. */
function withProperty(schema: JsonObject, name: string, property: JsonObject): JsonObject {
  const properties = schema['properties'];
  return isJsonObject(properties) ? { ...schema, properties: { ...properties, [name]: property } } : schema;
}

function mapObjects(value: JsonValue, change: Change): JsonValue {
  if (Array.isArray(value)) return value.map((item) => mapObjects(item, change));
  if (!isJsonObject(value)) return value;
  return change(
    Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mapObjects(inner, change)])),
  );
}
