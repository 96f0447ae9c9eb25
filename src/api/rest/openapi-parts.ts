// Small builders for the OpenAPI document: schemas, references, parameters and responses in one line each.
import type { JsonObject, JsonValue } from '../../contract/json.ts';

export const JSON_TYPE = 'application/json';
export const PROBLEM_TYPE = 'application/problem+json';

export const time: JsonObject = { type: 'string', format: 'date-time' };
export const words: JsonObject = { type: 'string' };
export const flag: JsonObject = { type: 'boolean' };

export function schemaRef(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

export function responseRef(name: string): JsonObject {
  return { $ref: `#/components/responses/${name}` };
}

export function parameterRef(name: string): JsonObject {
  return { $ref: `#/components/parameters/${name}` };
}

export function headerRef(name: string): JsonObject {
  return { $ref: `#/components/headers/${name}` };
}

export function text(description: string, extra: JsonObject = {}): JsonObject {
  return { type: 'string', description, ...extra };
}

/** An object whose properties are all present; those that are not are named in `optional`. */
export function record(properties: JsonObject, optional: readonly string[] = []): JsonObject {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required };
}

export function listOf(items: JsonValue): JsonObject {
  return { type: 'array', items };
}

export function orNull(schema: JsonObject): JsonObject {
  return { anyOf: [schema, { type: 'null' }] };
}

export function query(name: string, description: string, schema: JsonObject): JsonObject {
  return { name, in: 'query', description, schema };
}

export function answer(description: string, schema: JsonObject, headers?: JsonObject): JsonObject {
  return { description, ...(headers && { headers }), content: { [JSON_TYPE]: { schema } } };
}

export function body(schema: JsonObject, example?: JsonValue): JsonObject {
  return {
    required: true,
    content: { [JSON_TYPE]: { schema, ...(example === undefined ? {} : { example }) } },
  };
}

interface Operation {
  readonly operationId: string;
  readonly tags: string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: JsonObject[];
  readonly requestBody?: JsonObject;
}

/** A management route: what it answers, and problems for the rest. */
export function managed(operation: Operation, ok: JsonObject, problems: readonly string[] = []): JsonObject {
  const refusals = ['Unauthenticated', 'PermissionDenied', ...problems];
  return {
    ...operation,
    responses: {
      '200': ok,
      ...Object.fromEntries(refusals.map((name) => [PROBLEM_STATUS[name] ?? 'default', responseRef(name)])),
      default: responseRef('Problem'),
    },
  };
}

const PROBLEM_STATUS: { readonly [name: string]: string } = {
  BadRequest: '400',
  Unauthenticated: '401',
  PermissionDenied: '403',
  NotFound: '404',
  Conflict: '409',
  PreconditionFailed: '412',
};
