// The OpenAPI 3.1 document of the REST door, written from the routes that are declared.
import type { z } from 'zod';
import type { JsonObject } from '../../../contract/json.ts';
import { DOCS_CONTROLLERS, MCP_CONTROLLERS, REST_CONTROLLERS, STREAM_CONTROLLERS } from '../controllers.ts';
import { TAGS, type Answer, type Body, type ProblemStatus, type Route } from '../route/route.ts';
import { routesOf } from '../route/serves.ts';
import { JsonSchemas } from './json-schemas.ts';
import {
  HEADERS,
  PARAMETERS,
  Problem,
  PROBLEM_TYPE,
  PROBLEMS,
  SECURITY,
  SECURITY_SCHEMES,
} from './shared.ts';

const DESCRIPTION = `Declares, lists and calls tools of any kind under one policy.

Call endpoints always answer with the envelope; all other routes answer errors as \`application/problem+json\`. A query
parameter that a route does not know is refused.`;

const JSON_TYPE = 'application/json';

export const ROUTES: readonly Route[] = [
  ...REST_CONTROLLERS,
  ...MCP_CONTROLLERS,
  ...STREAM_CONTROLLERS,
  ...DOCS_CONTROLLERS,
].flatMap(routesOf);

/** Each time one of its own. */
export function buildOpenApi({ version }: { readonly version: string }): JsonObject {
  const schemas = new JsonSchemas();
  const problem = schemas.add(Problem);
  const operations = ROUTES.map((route) => ({ route, write: operation(route, schemas) }));
  const written = schemas.write();
  const paths: Record<string, JsonObject> = {};
  for (const { route, write } of operations)
    paths[route.path] = { ...paths[route.path], [route.method]: write() };
  return structuredClone({
    openapi: '3.1.0',
    info: { title: 'UnifiedToolExecutor', version, description: DESCRIPTION },
    servers: [{ url: '/' }],
    security: SECURITY,
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      headers: HEADERS,
      parameters: PARAMETERS,
      responses: Object.fromEntries(
        Object.values(PROBLEMS).map(([name, description]) => [
          name,
          { description, content: { [PROBLEM_TYPE]: { schema: problem() } } },
        ]),
      ),
      schemas: written,
    },
  });
}

/** First every schema is collected, then all are written, then the operations. */
function operation(route: Route, schemas: JsonSchemas): () => JsonObject {
  const { operationId, tag, summary, description, problems } = route;
  const parameters = [
    ...Object.entries(route.params ?? {}).map(([name, of]) => parameter('path', name, of(), schemas)),
    ...fieldsOf(route.query).map(([name, schema]) => parameter('query', name, schema, schemas)),
    ...fieldsOf(route.headers).map(([name, schema]) => parameter('header', name, schema, schemas)),
    ...(isOpen(route) ? [] : [() => ({ $ref: '#/components/parameters/Tenant' })]),
  ];
  const body = route.body && requestBody(route.body, schemas);
  const answers = Object.entries(route.answers).map(
    ([status, answer]) => [status, response(answer, schemas)] as const,
  );
  return () => ({
    operationId,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(isOpen(route) && { security: [] }),
    ...(parameters.length > 0 && { parameters: parameters.map((write) => write()) }),
    ...(body !== undefined && { requestBody: body() }),
    responses: {
      ...Object.fromEntries(answers.map(([status, write]) => [status, write()])),
      ...(problems ? problemResponses(problems) : !isOpen(route) && problemResponses()),
    },
  });
}

/** Whoever asks is answered, without a credential. */
function isOpen({ tag }: Route): boolean {
  return tag === 'health' || tag === 'docs' || tag === 'well-known';
}

function fieldsOf(of: Route['query']): readonly (readonly [string, z.ZodType])[] {
  return Object.entries(of?.().shape ?? {});
}

function parameter(place: string, name: string, schema: z.ZodType, schemas: JsonSchemas): () => JsonObject {
  const written = schemas.add(schema);
  const required = place === 'path' || !schema.safeParse(undefined).success;
  return () => {
    const { description, ...rest } = written();
    return {
      name,
      in: place,
      ...(required && { required }),
      ...(description !== undefined && { description }),
      schema: rest,
    };
  };
}

function requestBody({ shape, types = [], required = true, example }: Body, schemas: JsonSchemas) {
  const schema = schemas.add(shape);
  return (): JsonObject => ({
    required,
    content: {
      [JSON_TYPE]: { schema: schema(), ...(example !== undefined && { example }) },
      ...Object.fromEntries(types.map((type) => [type, { schema: schema() }])),
    },
  });
}

function response(
  { description, headers = [], content = {} }: Answer,
  schemas: JsonSchemas,
): () => JsonObject {
  const bodies = Object.entries(content).map(([type, of]) => [type, schemas.add(of)] as const);
  return () => ({
    description,
    ...(headers.length > 0 && {
      headers: Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    }),
    ...(bodies.length > 0 && {
      content: Object.fromEntries(bodies.map(([type, schema]) => [type, { schema: schema() }])),
    }),
  });
}

/** Left out: those of a request that never becomes a call. */
function problemResponses(statuses?: readonly ProblemStatus[]): JsonObject {
  const all = statuses === undefined ? (['default'] as const) : ([...statuses, 401, 403, 'default'] as const);
  return Object.fromEntries(
    all.map((status) => [status, { $ref: `#/components/responses/${PROBLEMS[status][0]}` }]),
  );
}
