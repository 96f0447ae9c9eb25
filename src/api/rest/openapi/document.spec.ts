// The OpenAPI document: whole in itself, and in step with the contract.
import { describe, expect, it } from 'vitest';
import { ERROR_TYPES } from '../../../contract/call/error-types.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts';
import { servedRoutes } from '../../../../test/helpers/nest-routes.ts';
import { buildOpenApi } from './document.ts';

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
  it('describes exactly the routes that Nest serves', () => {
    const documented = operations.map(
      ({ path, method }) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
    );
    const served = servedRoutes().filter((route) => !route.startsWith('rpc '));
    expect(documented.toSorted()).toEqual(served);
  });

  it('says version 3.1, the version of the gateway, and where it is', () => {
    expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '1.2.3' }, servers: [{ url: '/' }] });
  });

  it('refers to nothing that is not there', () => {
    const dangling = collectRefs(document).filter(
      (ref) => Object.keys(at(document, ...ref.replace('#/', '').split('/'))).length === 0,
    );
    expect(dangling).toEqual([]);
  });

  it('uses every component it declares', () => {
    const used = new Set(collectRefs(document));
    const declared = ['schemas', 'headers', 'responses'].flatMap((kind) =>
      Object.keys(at(document, 'components', kind)).map((name) => `#/components/${kind}/${name}`),
    );
    expect(declared.filter((ref) => !used.has(ref))).toEqual([]);
  });

  it.each(operations)('names, summarises and answers $method $path', ({ path, operation }) => {
    expect(operation).toMatchObject({ operationId: expect.any(String), summary: expect.any(String) });
    expect(
      Object.keys(at(operation, 'responses')).filter((status) => /^(101|20[014]|303)$/.test(status)),
    ).not.toEqual([]);
    const parameters = Array.isArray(operation['parameters']) ? operation['parameters'] : [];
    const inPath = parameters
      .map((each) => at(each))
      .flatMap(({ in: place, name }) => (place === 'path' && typeof name === 'string' ? [`{${name}}`] : []));
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

  it('asks for a credential everywhere but on the probes on this document, and where strangers learn whom to ask for a token', () => {
    const open = operations.filter(({ operation }) => Array.isArray(operation['security']));
    expect(open.map(({ path }) => path)).toEqual([
      '/livez',
      '/readyz',
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-protected-resource/mcp',
      '/openapi.json',
      '/docs',
      '/docs/initializer.js',
    ]);
    expect(Object.keys(at(document, 'components', 'securitySchemes'))).toEqual(['bearer', 'apiKey']);
  });

  it('hands out a document of its own each time', () => {
    at(document, 'info')['title'] = 'changed';
    expect(at(buildOpenApi({ version: '1' }), 'info')['title']).toBe('UnifiedToolExecutor');
  });
});
