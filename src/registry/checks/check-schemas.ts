// Checks of the JSON Schemas in a declaration, and of how they go together with actions.
import { isJsonObject, type JsonObject, type JsonSchema } from '../../contract/json.ts';
import { misplacedMarks, sensitiveMembers } from '../../lib/json-schema/sensitive-members.ts';
import { lintSchema } from '../../lib/json-schema/lint/schema-linter.ts';
import { foundText, type Fault, type Path } from '../../lib/faults/faults.ts';

export function faultsOfInputSchema(schema: JsonSchema, isLinted = false): readonly Fault[] {
  const { type } = schema;
  if (type !== undefined && type !== 'object') {
    return [
      {
        path: ['input_schema', 'type'],
        message: `arguments are always an object: expected "object", ${foundText(type)}`,
      },
    ];
  }
  return isLinted ? [] : lintAt(schema, ['input_schema']);
}

export function faultsOfOutputSchema(schema: JsonSchema): readonly Fault[] {
  return lintAt(schema, ['output_schema']);
}

export function faultsOfConfigSchema(written: JsonObject): readonly Fault[] {
  const { schema, isBare } = asConfigSchema(written);
  if (schema['type'] !== 'object') {
    return [{ path: ['config_schema', 'type'], message: `expected "object", ${foundText(schema['type'])}` }];
  }
  const faults = [...lintAt(schema, ['config_schema']), ...faultsOfSecrets(schema)];
  return faults.map((fault) => (isBare ? withoutProperties(fault) : fault));
}

/** What is marked as secret is kept apart from the rest, which works for whole members of the root alone. */
function faultsOfSecrets(schema: JsonSchema): readonly Fault[] {
  const misplaced = misplacedMarks(schema).map((path) => ({
    path: ['config_schema', ...path],
    message:
      'is marked as secret, which only a property of config_schema itself can be: its value is kept encrypted as a whole',
  }));
  const properties = schema['properties'] as JsonObject;
  const given = sensitiveMembers(schema).flatMap((name) => {
    const property = properties[name];
    const stray = ['default', 'const', 'examples'].find(
      (keyword) => isJsonObject(property) && property[keyword] !== undefined,
    );
    if (stray === undefined) return [];
    const message = 'a secret would stand in the declaration: it is set per agent, in sensitive_config';
    return [{ path: ['config_schema', 'properties', name, stray], isKey: true, message }];
  });
  return [...misplaced, ...given];
}

/** A tool with actions has its schemas in them: what stands beside would be checked by nothing. */
export function faultsBesideActions(declared: {
  readonly input_schema?: unknown;
  readonly output_schema?: unknown;
}): readonly Fault[] {
  const faults: Fault[] = [];
  if (declared.input_schema !== undefined) {
    const message = 'expected either input_schema or actions: with actions, each has its own parameters';
    faults.push({ path: ['input_schema'], isKey: true, message });
  }
  if (declared.output_schema !== undefined) {
    faults.push({
      path: ['output_schema'],
      isKey: true,
      message: 'is for a tool without actions: it would check nothing here',
    });
  }
  return faults;
}

/** The arguments of a tool are an object, also where the schema leaves that to be understood. */
export function asInputSchema(written: JsonSchema | undefined): JsonSchema {
  return written?.['type'] === undefined ? { type: 'object', ...written } : written;
}

const TYPE_NAMES = ['string', 'integer', 'number', 'boolean', 'array', 'object'];

/** Older definitions write the properties alone, as schemas or as the bare names of types. */
export function asConfigSchema(written: JsonObject): {
  readonly schema: JsonSchema;
  readonly isBare: boolean;
} {
  const { type, properties } = written;
  if (typeof type === 'string' && !TYPE_NAMES.includes(type)) return { schema: written, isBare: false };
  const isWhole = type === 'object' || isJsonObject(properties) || written['$ref'] !== undefined;
  if (isWhole)
    return { schema: type === undefined ? { type: 'object', ...written } : written, isBare: false };
  const entries = Object.entries(written);
  if (!entries.every(([, value]) => isJsonObject(value) || isTypeName(value)))
    return { schema: written, isBare: false };
  const asSchemas = entries.map(
    ([name, value]) => [name, isTypeName(value) ? { type: value } : value] as const,
  );
  return { schema: { type: 'object', properties: Object.fromEntries(asSchemas) }, isBare: true };
}

function isTypeName(value: unknown): value is string {
  return typeof value === 'string' && TYPE_NAMES.includes(value);
}

function lintAt(schema: JsonSchema, base: Path): readonly Fault[] {
  return lintSchema(schema).map(({ path, message }) => ({ path: [...base, ...path], message }));
}

function withoutProperties({ path, ...fault }: Fault): Fault {
  return { ...fault, path: path[1] === 'properties' ? ['config_schema', ...path.slice(2)] : path };
}
