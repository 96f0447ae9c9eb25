// The OpenAPI document: whole in itself, and in step with the contract.
import { describe, expect, it } from 'vitest';
import { ERROR_TYPES } from '../../contract/call/error-types.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import { buildOpenApi } from './openapi.ts';

const document = buildOpenApi({ version: '1.2.3' });

function at(value: JsonValue | undefined, ...path: string[]): JsonObject {
  const found = path.reduce<JsonValue | undefined>(
    (inner, step) => (isJsonObject(inner) ? inner[step] : undefined),
    value,
  );
  return isJsonObject(found) ? found : {};
}

function collectRefs(value: JsonValue | undefined): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(collectRefs);
  if (!isJsonObject(value)) return [];
  const own = typeof value['$ref'] === 'string' ? [value['$ref']] : [];
  return [...own, ...Object.values(value).flatMap(collectRefs)];
}

const operations = Object.entries(at(document, 'paths')).flatMap(([path, item]) =>
  Object.entries(at(item)).map(([method, operation]) => ({ path, method, operation: at(operation) })),
);

describe('buildOpenApi', () => {
  it('describes exactly the routes of the door', () => {
    expect(operations.map(({ path, method }) => `${method.toUpperCase()} ${path}`)).toEqual([
      'POST /v1/tools/{name}/execute',
      'POST /v1/execute',
      'GET /v1/tools',
      'GET /v1/tools/{name}',
      'GET /v1/tools/{name}/docs',
      'GET /v1/registry',
      'GET /v1/pipeline',
      'GET /v1/calls',
      'POST /v1/calls/{id}/resolve',
      'GET /v1/audit',
      'GET /v1/calls/{id}',
      'DELETE /v1/calls/{id}',
      'GET /v1/calls/{id}/events',
      'POST /v1/calls/{id}/retry',
      'GET /v1/admin/webhooks/dead',
      'POST /v1/admin/webhooks/{id}/redeliver',
      'GET /v1/approvals',
      'GET /v1/approvals/{id}',
      'POST /v1/approvals/{id}/decision',
      'GET /v1/schedules',
      'POST /v1/schedules',
      'POST /v1/schedules/preview',
      'GET /v1/schedules/{id}',
      'PATCH /v1/schedules/{id}',
      'DELETE /v1/schedules/{id}',
      'GET /v1/admin/reload',
      'POST /v1/admin/reload',
      'POST /v1/admin/tools/{name}/disable',
      'POST /v1/admin/tools/{name}/enable',
      'GET /v1/admin/definitions',
      'POST /v1/admin/definitions/{name}/approve',
      'GET /v1/admin/circuits',
      'POST /v1/admin/circuits/{upstream}/isolate',
      'POST /v1/admin/circuits/{upstream}/reset',
      'GET /v1/admin/replicas',
      'GET /v1/specs',
      'GET /v1/specs/{name}',
      'PUT /v1/specs/{name}',
      'DELETE /v1/specs/{name}',
      'GET /v1/specs/{name}/versions',
      'GET /v1/specs/{name}/diff',
      'POST /v1/specs/{name}/rollback',
      'GET /v1/admin/recordings',
      'POST /v1/admin/recordings',
      'GET /v1/admin/recordings/{name}',
      'DELETE /v1/admin/recordings/{name}',
      'POST /v1/admin/recordings/{name}/stop',
      'GET /v1/admin/replay',
      'POST /v1/admin/replay/rewind',
      'GET /livez',
      'GET /readyz',
    ]);
  });

  it('says version 3.1, the version of the gateway, and where it is', () => {
    expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '1.2.3' }, servers: [{ url: '/' }] });
    const { servers } = buildOpenApi({ version: '1', publicUrl: 'https://tools.example' });
    expect(servers).toEqual([{ url: 'https://tools.example' }]);
  });

  it('refers to nothing that is not there', () => {
    const dangling = collectRefs(document).filter(
      (ref) => Object.keys(at(document, ...ref.replace('#/', '').split('/'))).length === 0,
    );
    expect(dangling).toEqual([]);
  });

  it('uses every component it declares', () => {
    const used = new Set(collectRefs(document));
    const declared = ['schemas', 'parameters', 'headers', 'responses'].flatMap((kind) =>
      Object.keys(at(document, 'components', kind)).map((name) => `#/components/${kind}/${name}`),
    );
    expect(declared.filter((ref) => !used.has(ref))).toEqual([]);
  });

  it.each(operations)('names, summarises and answers $method $path', ({ path, operation }) => {
    expect(operation).toMatchObject({ operationId: expect.any(String), summary: expect.any(String) });
    expect(Object.keys(at(operation, 'responses')).filter((status) => /^20[014]$/.test(status))).not.toEqual(
      [],
    );
    const parameters = collectRefs(operation['parameters']).map((ref) =>
      at(document, ...ref.slice(2).split('/')),
    );
    const inPath = parameters
      .filter((parameter) => parameter['in'] === 'path')
      .map(({ name }) => (typeof name === 'string' ? `{${name}}` : ''));
    expect(inPath).toEqual(path.match(/\{\w+\}/g) ?? []);
  });

  it('gives every operation an id of its own', () => {
    const ids = operations.map(({ operation }) => operation['operationId']);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('lists every error type, and every HTTP status that one comes with', () => {
    expect(at(document, 'components', 'schemas', 'ErrorType')['enum']).toEqual(Object.keys(ERROR_TYPES));
    const responses = at(document, 'paths', '/v1/tools/{name}/execute', 'post', 'responses');
    const missing = Object.entries(ERROR_TYPES).filter(([type, { http }]) => {
      const description = at(responses, String(http))['description'];
      return http !== 200 && !(typeof description === 'string' && description.includes(type));
    });
    expect(missing).toEqual([]);
    expect(at(responses, '422')['description']).toBe('Refused: CONFLICT.');
    expect(at(responses, '429', 'headers')).toHaveProperty('Retry-After');
    expect(at(responses, '202', 'headers')).toHaveProperty('Location');
  });

  it('asks for a credential everywhere but on the probes', () => {
    const open = operations.filter(({ operation }) => Array.isArray(operation['security']));
    expect(open.map(({ path }) => path)).toEqual(['/livez', '/readyz']);
    expect(Object.keys(at(document, 'components', 'securitySchemes'))).toEqual(['bearer', 'apiKey']);
  });

  it('hands out a document of its own each time', () => {
    at(document, 'info')['title'] = 'changed';
    expect(at(buildOpenApi({ version: '1' }), 'info')['title']).toBe('UnifiedToolExecutor');
  });
});
