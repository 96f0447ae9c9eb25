// Reads a request by the declaration of its route: everything that is wrong with it is told at once.
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Principal } from '../../../contract/call/principal.ts';
import type { JsonObject } from '../../../contract/json.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { bodyOf } from './json-text.ts';
import type { Body, Route } from './route.ts';
import type { Shape, ValueOf } from './shapes.ts';
import { refused, unknownName, violationsOf, type Violation } from './violations.ts';

type Part<Of> = Of extends Shape ? ValueOf<Of> : object;

/** What a handler is given: the request, as its declaration reads it. */
export interface Asked<R extends Route> {
  readonly principal: Principal;
  readonly params: { readonly [Name in keyof R['params']]: string };
  readonly query: Part<R['query']>;
  readonly headers: Part<R['headers']>;
  readonly body: R['body'] extends Body<infer Of> ? ValueOf<Of> : undefined;
  readonly request: FastifyRequest;
  /** The act touches another tenant, too: it finds it in its own records. */
  readonly affects: (tenantId: string) => void;
  /** What the record of the act says besides: no secret. */
  readonly noting: (what: JsonObject) => void;
  /** For a stream. Rejects with ToolFailure once the credential is good no more, or holds too little for the route. */
  readonly stillAllowed: () => Promise<void>;
}

/** Throws ToolFailure VALIDATION with every violation, or what refused the body on its way in. */
export function readAsked<R extends Route>(
  route: R,
  request: FastifyRequest,
  by: Pick<Asked<R>, 'principal' | 'affects' | 'noting' | 'stillAllowed'>,
): Asked<R> {
  const wrong: Violation[] = [...strayParameters(route, request)];
  const query = readQuery(route, request, wrong);
  const headers = readHeaders(route, request, wrong);
  const body = readBody(route, request, wrong);
  if (wrong.length > 0) throw refused(wrong);
  const { params } = request;
  return { ...by, params, query, headers, body, request } as Asked<R>;
}

/** The body alone, for routes that are no management's. Throws ToolFailure VALIDATION with every violation. */
export function readBodyOf<R extends Route>(route: R, request: FastifyRequest): Asked<R>['body'] {
  const wrong: Violation[] = [...strayParameters(route, request)];
  const body = readBody(route, request, wrong);
  if (wrong.length > 0) throw refused(wrong);
  return body as Asked<R>['body'];
}

/** Undefined: there is nothing to refuse. For routes that read the rest by hand. */
export function wrongQuery(route: Route, request: FastifyRequest): ToolFailure | undefined {
  const wrong = strayParameters(route, request);
  return wrong.length === 0 ? undefined : refused(wrong);
}

/** What stands in the path, for routes that hold it to a shape. Throws ToolFailure VALIDATION with every violation. */
export function readPath<Of extends Shape>(of: Of, params: object): ValueOf<Of> {
  const result = of().safeParse(params);
  if (!result.success) throw refused(violationsOf(result.error.issues, [], ''));
  return result.data as ValueOf<Of>;
}

const NONE: readonly Violation[] = [];

function strayParameters({ query }: Route, request: FastifyRequest): readonly Violation[] {
  const given = Object.entries(request.query ?? {});
  if (given.length === 0) return NONE;
  const known = Object.keys(query?.().shape ?? {});
  return given.flatMap(([name, value]) => {
    if (!known.includes(name)) return [unknownName('', name, known, 'query parameter of this route')];
    return Array.isArray(value) ? [{ pointer: `/${name}`, message: 'must be given once' }] : [];
  });
}

function readQuery({ query }: Route, request: FastifyRequest, wrong: Violation[]): unknown {
  if (query === undefined || wrong.length > 0) return {};
  return parsed(query(), request.query ?? {}, wrong, (issues) => violationsOf(issues, [], ''));
}

function readHeaders({ headers }: Route, request: FastifyRequest, wrong: Violation[]): unknown {
  if (headers === undefined) return {};
  const schema = headers();
  const said = Object.keys(schema.shape).map((name) => [name, request.headers[name.toLowerCase()]]);
  return parsed(schema, Object.fromEntries(said), wrong, (issues) =>
    issues.map(({ path, message }) => ({ pointer: '', message: `header ${String(path[0])} ${message}` })),
  );
}

function readBody({ body }: Route, request: FastifyRequest, wrong: Violation[]): unknown {
  if (body === undefined || body.types !== undefined) return undefined;
  const value = bodyUnless(wrong, request);
  const schema: z.ZodType & { readonly shape?: object } = body.shape();
  const known = Object.keys(schema.shape ?? {});
  return parsed(schema, value, wrong, (issues) => violationsOf(issues, known, 'field of this body'));
}

/** A body that cannot be read at all is refused for that alone, unless something else is wrong already. */
function bodyUnless(wrong: readonly Violation[], request: FastifyRequest): unknown {
  try {
    return bodyOf(request);
  } catch (error) {
    throw wrong.length > 0 && error instanceof ToolFailure ? refused(wrong) : error;
  }
}

function parsed(
  schema: z.ZodType,
  value: unknown,
  wrong: Violation[],
  violations: (issues: readonly z.core.$ZodIssue[]) => readonly Violation[],
): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  wrong.push(...violations(result.error.issues));
  return undefined;
}
