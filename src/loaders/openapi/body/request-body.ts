// The body of an operation: its members become arguments where it is a plain object, else it is one argument.
import { isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from '../../../contract/json.ts';
import type { Operation } from '../document/list-operations.ts';
import type { ParameterNeeds } from '../parameters.ts';
import { dereference } from '../document/references.ts';
import { bodyContent, type BodyContent } from './body-content.ts';
import { fileSchema, formSchema } from './form-schema.ts';
import { plainText } from '../plain-text.ts';
import { below, shown, Unusable } from '../unusable.ts';

export interface RequestBody {
  readonly body?: JsonValue;
  /** Set where the executor does not know it by itself. */
  readonly contentType?: string;
  /** JSON when left out. */
  readonly as?: 'form' | 'multipart' | 'text' | 'file';
  /** How members of a form are written. */
  readonly parts?: JsonObject;
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
  const found = bodyContent(needs.root, written['content']);
  if (found === undefined) {
    const types = isJsonObject(written['content']) ? Object.keys(written['content']).join(', ') : 'nothing';
    throw new Unusable(`has a body of ${shown(types)}, which cannot be built`);
  }
  if (found.as === 'text' || found.as === 'file') return singleBody(found, written, required, needs);
  const schemaPlace = below(place, 'content', found.name, 'schema');
  const converted = needs.converter.convert(found.media['schema'], schemaPlace);
  const { schema, parts } =
    found.as === 'json'
      ? { schema: converted, parts: undefined }
      : formSchema(converted, found.as, found.media, needs.options);
  const isFlat = isPlainObject(schema, required) && (required || method !== 'DELETE');
  return {
    body: isFlat ? membersOf(schema, needs) : wholeOf(schema, written, required, needs),
    ...(found.as === 'json' && found.type !== 'application/json' && { contentType: found.type }),
    ...(found.as !== 'json' && { as: found.as }),
    ...partsOf(parts, isFlat ? schema['properties'] : undefined),
  };
}

/** Without those of members that there are not, where the members are known. */
function partsOf(parts: JsonObject | undefined, members: JsonValue | undefined): Pick<RequestBody, 'parts'> {
  if (parts === undefined || !isJsonObject(members)) return parts === undefined ? {} : { parts };
  const known = Object.entries(parts).filter(([name]) => Object.hasOwn(members, name));
  return known.length === 0 ? {} : { parts: Object.fromEntries(known) };
}

/** Text or a file, as one argument. */
function singleBody(
  found: BodyContent,
  written: JsonObject,
  required: boolean,
  needs: ParameterNeeds,
): RequestBody {
  const kind = found.as === 'file' ? 'file' : 'text';
  const schema =
    kind === 'file' ? fileSchema({}, needs.options) : { type: 'string', contentMediaType: found.type };
  return {
    body: wholeOf(schema, written, required, needs),
    as: kind,
    ...(!found.type.includes('*') && { contentType: found.type }),
  };
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
  const told = isTold
    ? { ...schema, description: plainText(description).slice(0, 1_000).toWellFormed() }
    : schema;
  return `{${args.add('body', 'content', told, required)}}`;
}

function requiredOf({ required }: JsonSchema): readonly string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}
