// Which query parameters each route knows: the OpenAPI document says so. Any other is a misspelt one, and refused by name.
import type { FastifyRequest } from 'fastify';
import { isJsonObject, type JsonValue } from '../../contract/json.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import { didYouMean } from '../../lib/text/did-you-mean.ts';
import { buildOpenApi } from './openapi.ts';
import { invalid } from './read-call.ts';

const MAX_NAME = 64;
let known: ReadonlyMap<string, readonly string[]> | undefined;

/** Undefined: there is nothing to refuse. Said to those alone who may use the route. */
export function wrongQuery({ method, routeOptions, query }: FastifyRequest): ToolFailure | undefined {
  const given = Object.entries(query ?? {});
  if (given.length === 0) return undefined;
  known ??= parametersByRoute();
  const names = known.get(`${method === 'HEAD' ? 'GET' : method} ${routeOptions.url}`) ?? [];
  for (const [name, value] of given) {
    if (!names.includes(name)) return unknown(name, names);
    if (Array.isArray(value)) return invalid(`/${name}`, 'must be given once');
  }
  return undefined;
}

function unknown(name: string, names: readonly string[]): ToolFailure {
  const near = didYouMean(name, names);
  const hint = near === undefined ? '' : `; did you mean "${near}"?`;
  const list = names.length === 0 ? 'it has none' : `known: ${names.join(', ')}`;
  return invalid(`/${name.slice(0, MAX_NAME)}`, `is no query parameter of this route${hint} (${list})`);
}

/** Keys as Fastify writes routes: `GET /v1/calls/:id`. */
function parametersByRoute(): ReadonlyMap<string, readonly string[]> {
  const { paths, components } = buildOpenApi({ version: '' });
  const shared = isJsonObject(components) ? components['parameters'] : undefined;
  const found = new Map<string, readonly string[]>();
  for (const [path, methods] of Object.entries(isJsonObject(paths) ? paths : {})) {
    const route = path.replaceAll(/\{(\w+)\}/g, ':$1');
    for (const [method, operation] of Object.entries(isJsonObject(methods) ? methods : {})) {
      const parameters = isJsonObject(operation) ? operation['parameters'] : undefined;
      const names = (Array.isArray(parameters) ? parameters : []).flatMap((each) =>
        nameInQuery(each, shared),
      );
      found.set(`${method.toUpperCase()} ${route}`, names);
    }
  }
  return found;
}

function nameInQuery(parameter: JsonValue, shared: JsonValue | undefined): string[] {
  if (!isJsonObject(parameter)) return [];
  const { $ref: ref } = parameter;
  if (typeof ref === 'string' && isJsonObject(shared))
    return nameInQuery(shared[ref.slice('#/components/parameters/'.length)] ?? null, undefined);
  return parameter['in'] === 'query' && typeof parameter['name'] === 'string' ? [parameter['name']] : [];
}
