// Routes of tools: what cannot be served as it is declared is told at load, with its place.
import { describe, expect, it } from 'vitest';
import { specOf } from '../../../../test/helpers/call-kit.ts';
import type { JsonObject } from '../../../contract/json.ts';
import type { RawDeclaration } from '../../../contract/tool/loaded-tools.ts';
import type { ToolRoute } from '../../../contract/tool/tool-route.ts';
import { faultsOfRoutes, problemsOfRoutes } from './check-routes.ts';
import { toolDeclarationSchema } from '../tool-spec-schema.ts';

function faults(route: JsonObject, more: JsonObject = {}, isOurs = true) {
  const declared = toolDeclarationSchema.parse({
    name: 'find',
    description: 'Finds.',
    tool_type: 'http',
    input_schema: { type: 'object', properties: { id: { type: 'string' } } },
    metadata: { read_only: true },
    routes: [{ method: 'GET', path: '/orders/{id}', ...route }],
    ...more,
  });
  return faultsOfRoutes(declared, isOurs).map(({ path, message }) => `${path.join('.')}: ${message}`);
}

describe('a route', () => {
  it('of arguments that there are is taken, with business_id besides', () => {
    expect(faults({})).toEqual([]);
    expect(faults({ path: '/admin/{business_id}/{id}' })).toEqual([]);
  });

  it.each([
    [{ path: '/orders/{idd}' }, {}, 'routes.0.path: {idd} is no argument of the tool; did you mean {id}?'],
    [{ path: '/v1/orders' }, {}, "routes.0.path: /v1 is the gateway's own"],
    [{ path: '/orders/..' }, {}, 'routes.0.path: ".." is no part of a path'],
    [{}, { metadata: {} }, 'routes.0.method: GET is for a tool that changes nothing'],
    [
      { answer: 'data' },
      { extensions: { fallback: { message: 'x' } } },
      'routes.0.answer: the data of a safe answer',
    ],
    [
      { answer: 'data' },
      { max_result_items: 3 },
      'routes.0.answer: only the envelope says that a list was cut',
    ],
    [
      { deprecated: { since: '2026-01-22', successor: '/o/{name}' } },
      {},
      'routes.0.deprecated.successor: {name} does not stand in the path',
    ],
    [{}, { metadata: { read_only: true, internal: true } }, 'routes: is not for an internal tool'],
  ])('%j of a tool with %j is refused', (route, more, message) => {
    expect(faults(route, more)).toEqual([expect.stringContaining(message)]);
  });

  it('of a tool with actions, or of one that comes from elsewhere, is refused', () => {
    const actions = [{ name: 'go', description: 'Goes.' }];
    expect(faults({}, { actions })).toEqual([expect.stringContaining('tools without actions')]);
    expect(faults({}, {}, false)).toEqual([expect.stringContaining('for tools of the operator')]);
  });
});

it('two routes that take the same requests are told, whatever their arguments are called', () => {
  const tool = (name: string, method: ToolRoute['method'], path: string) => ({
    spec: specOf({ name, routes: [{ method, path, answer: 'data' as const }] }),
    options: {},
    extensionOptions: {},
    declaration: { locate: () => ({ file: 'tools.yaml', line: 3 }) } as unknown as RawDeclaration,
  });
  const problems = problemsOfRoutes([
    tool('a', 'GET', '/orders/{id}'),
    tool('b', 'GET', '/orders/{name}'),
    tool('c', 'DELETE', '/orders/{id}'),
  ]);
  expect(problems).toEqual([
    expect.objectContaining({
      tool: 'b',
      path: 'routes.0.path',
      message: 'GET /orders/{name} takes the requests of a route of "a"',
    }),
  ]);
});
