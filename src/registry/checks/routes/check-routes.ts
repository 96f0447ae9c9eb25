// Checks the routes of tools: that each can be served as it is declared, and that no two take the same requests.
import { isJsonObject } from '../../../contract/json.ts';
import type { Problem } from '../../../contract/tool/loaded-tools.ts';
import { ownPathFault } from '../../../lib/http-route/own-paths.ts';
import {
  formOf,
  parsePattern,
  PatternError,
  type PathPattern,
} from '../../../lib/http-route/route-pattern.ts';
import { didYouMean } from '../../../lib/text/did-you-mean.ts';
import { effectsOf } from '../../normalise-spec.ts';
import type { CheckedTool } from '../../spec-rules.ts';
import { type Fault } from '../../../lib/faults/faults.ts';
import { problemOf } from '../problem-of.ts';
import type { ToolDeclaration } from '../tool-spec-schema.ts';

type RouteDeclaration = NonNullable<ToolDeclaration['routes']>[number];

/** Compared with the tenant, whether the tool declares it or not. */
const TENANT_ARGUMENT = 'business_id';

/** `isOurs`: the operator wrote it, and no server or document from elsewhere. */
export function faultsOfRoutes(declared: Partial<ToolDeclaration>, isOurs: boolean): readonly Fault[] {
  const { routes, actions, metadata } = declared;
  if (routes === undefined) return [];
  const whole = (message: string): readonly Fault[] => [{ path: ['routes'], isKey: true, message }];
  if (!isOurs) return whole('is for tools of the operator: this one comes from elsewhere');
  if (actions !== undefined) return whole('is for tools without actions: those are called as tool.action');
  if (metadata?.internal === true)
    return whole('is not for an internal tool, which nobody calls from outside');
  return routes.flatMap((route, at) =>
    faultsOfRoute(route, declared).map(({ path, message }) => ({ path: ['routes', at, ...path], message })),
  );
}

function faultsOfRoute(route: RouteDeclaration, declared: Partial<ToolDeclaration>): readonly Fault[] {
  const pattern = patternOf(route.path);
  if (typeof pattern === 'string') return [{ path: ['path'], message: pattern }];
  const faults: Fault[] = [];
  const own = ownPathFault(pattern);
  if (own !== undefined) faults.push({ path: ['path'], message: own });
  for (const step of pattern) {
    const message = 'name' in step ? argumentFault(step.name, declared) : undefined;
    if (message !== undefined) faults.push({ path: ['path'], message });
  }
  if (route.method === 'GET' && declared.metadata !== undefined && !effectsOf(declared.metadata).readOnly) {
    const message =
      'GET is for a tool that changes nothing, since it is asked without being meant: expected metadata.read_only: true, or another method';
    faults.push({ path: ['method'], message });
  }
  const successor = successorFault(route, pattern);
  if (successor !== undefined) faults.push({ path: ['deprecated', 'successor'], message: successor });
  const lost = route.answer === 'data' ? lostAlone(declared) : undefined;
  if (lost !== undefined) faults.push({ path: ['answer'], message: lost });
  return faults;
}

function successorFault({ deprecated }: RouteDeclaration, pattern: PathPattern): string | undefined {
  if (deprecated?.successor === undefined) return undefined;
  const successor = patternOf(deprecated.successor);
  if (typeof successor === 'string') return successor;
  const there = pattern.flatMap((step) => ('name' in step ? [step.name] : []));
  const unknown = successor.find((step) => 'name' in step && !there.includes(step.name));
  return unknown === undefined || !('name' in unknown)
    ? undefined
    : `{${unknown.name}} does not stand in the path: expected arguments of it alone`;
}

function patternOf(path: string): PathPattern | string {
  try {
    return parsePattern(path);
  } catch (error) {
    if (error instanceof PatternError) return error.message;
    throw error;
  }
}

function argumentFault(name: string, { input_schema: schema }: Partial<ToolDeclaration>): string | undefined {
  const { properties } = schema ?? {};
  const known = isJsonObject(properties) ? Object.keys(properties) : [];
  if (name === TENANT_ARGUMENT || known.includes(name)) return undefined;
  const near = didYouMean(name, known);
  const hint = near === undefined ? '' : `; did you mean {${near}}?`;
  return `{${name}} is no argument of the tool${hint}`;
}

/** What the envelope says besides, and whoever reads the data has to know. */
function lostAlone(declared: Partial<ToolDeclaration>): string | undefined {
  const { extensions = {}, max_result_bytes: bytes, max_result_items: items } = declared;
  const expected = 'expected answer: envelope';
  if (extensions['fallback'] !== undefined)
    return `the data of a safe answer looks like that of the tool, and only the envelope says which it is: ${expected}`;
  if (bytes === undefined && items === undefined) return undefined;
  return `only the envelope says that a list was cut, and how to go on: ${expected}`;
}

export function problemsOfRoutes(tools: readonly CheckedTool[]): readonly Problem[] {
  const taken = new Map<string, string>();
  return tools.flatMap(({ spec, declaration }) =>
    (spec.routes ?? []).flatMap(({ method, path }, at) => {
      const key = `${method} ${formOf(parsePattern(path))}`;
      const by = taken.get(key);
      taken.set(key, spec.name);
      if (by === undefined) return [];
      const message = `${method} ${path} takes the requests of a route of "${by}"`;
      return [problemOf(declaration, spec.name, { path: ['routes', at, 'path'], message })];
    }),
  );
}
