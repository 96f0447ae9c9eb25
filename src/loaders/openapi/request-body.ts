// The JSON body of an operation: its members become arguments where it is a plain object, else it is one argument.
import { isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from '../../contract/json.ts';
import type { Operation } from './document/list-operations.ts';
import type { ParameterNeeds } from './parameters.ts';
import { dereference } from './document/references.ts';
import { below, shown, Unusable } from './unusable.ts';

export interface RequestBody {
  readonly body?: JsonValue;
  /** Set where it is not plain application/json. */
  readonly contentType?: string;
  /** What of the operation its tool cannot do. */
  readonly note?: string;
}

/** More parameters than an agent can use are kept together. */
const MOST_MEMBERS = 64;

export function addBody(operation: Operation, needs: ParameterNeeds): RequestBody {
  const { method, value } = operation;
  if (value['requestBody'] === undefined) return {};
  const at = { value: value['requestBody'], place: below(operation.place, 'requestBody') };
  const { value: written, place } = dereference(needs.root, at);
  const required = written['required'] === true;
  if (method === 'GET' || method === 'HEAD') {
    if (required) throw new Unusable(`needs a body, which a ${method} request does not have`);
    return {};
  }
  const found = jsonContent(written['content']);
  if (found === undefined) {
    const types = isJsonObject(written['content']) ? Object.keys(written['content']).join(', ') : 'nothing';
    if (required) throw new Unusable(`needs a body of ${shown(types)}; tools send JSON`);
    return { note: `its optional body of ${shown(types)} cannot be sent: tools send JSON` };
  }
  const schemaPlace = below(place, 'content', found.name, 'schema');
  const schema = needs.converter.convert(found.schema, schemaPlace);
  const contentType = found.type === 'application/json' ? {} : { contentType: found.type };
  const isFlat = isPlainObject(schema, required) && (required || method !== 'DELETE');
  return {
    body: isFlat ? membersOf(schema, needs) : wholeOf(schema, written, required, needs),
    ...contentType,
  };
}

interface JsonContent {
  /** As the document writes it. */
  readonly name: string;
  readonly type: string;
  readonly schema: JsonValue | undefined;
}

function jsonContent(content: JsonValue | undefined): JsonContent | undefined {
  if (!isJsonObject(content)) return undefined;
  const found = Object.entries(content).flatMap(([name, media]): JsonContent[] => {
    const [type = ''] = name.toLowerCase().split(';', 1);
    const isJson = /^application\/(?:[a-z0-9.+-]+\+)?json$/.test(type.trim());
    const isAny = /^(?:\*|application)\/\*$/.test(type.trim());
    if (!isJson && !isAny) return [];
    return [
      {
        name,
        type: isAny ? 'application/json' : type.trim(),
        schema: isJsonObject(media) ? media['schema'] : {},
      },
    ];
  });
  return found.find(({ type }) => type === 'application/json') ?? found[0];
}

const OF_PLAIN_OBJECTS: ReadonlySet<string> = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'title',
  'description',
  'examples',
]);

/** An optional body whose members are required must be able to be left out as a whole. */
function isPlainObject(schema: JsonSchema, required: boolean): boolean {
  const { type = 'object', properties, additionalProperties: others = false } = schema;
  return (
    type === 'object' &&
    isJsonObject(properties) &&
    Object.keys(properties).length > 0 &&
    Object.keys(properties).length <= MOST_MEMBERS &&
    others === false &&
    (required || schema['required'] === undefined) &&
    requiredOf(schema).every((name) => Object.hasOwn(properties, name)) &&
    Object.keys(schema).every((keyword) => OF_PLAIN_OBJECTS.has(keyword))
  );
}

function membersOf(schema: JsonSchema, { args }: ParameterNeeds): JsonObject {
  const required = requiredOf(schema);
  const members = Object.entries(schema['properties'] as JsonObject).map(([name, member]) => {
    const argument = args.add(name, 'body', isJsonObject(member) ? member : {}, required.includes(name));
    return [name, `{${argument}}`] as const;
  });
  return Object.fromEntries(members);
}

function wholeOf(
  schema: JsonSchema,
  { description }: JsonObject,
  required: boolean,
  { args }: ParameterNeeds,
): string {
  const isTold = typeof description === 'string' && /\S/.test(description);
  const told = isTold ? { ...schema, description: description.slice(0, 1_000).toWellFormed() } : schema;
  return `{${args.add('body', 'content', told, required)}}`;
}

function requiredOf({ required }: JsonSchema): readonly string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}
