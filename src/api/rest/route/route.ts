// A route as it is declared, once: from this it is served, its requests are read, and the OpenAPI document is written.
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { JsonValue } from '../../../contract/json.ts';
import type { Shape } from './shapes.ts';

export const TAGS = {
  calls: 'Calling tools.',
  tools: 'What can be called, and how.',
  approvals: 'Calls that wait for a decision by a human.',
  schedules: 'Calls to come, once or again and again.',
  sessions: 'Declared conversations: for whom, in which mode, with which budgets.',
  keys: 'API keys: who may call, for whom and until when.',
  assignments: 'Which version of a tool a tenant, an agent or a user gets.',
  agents: 'Agents, and what is configured for each of their tools.',
  admin: 'For operators.',
  specs: 'Definitions of tools, changed while the gateway runs.',
  mcp: 'The Model Context Protocol, for agents that speak it.',
  'well-known': 'Where clients learn whom to ask for a token.',
  health: 'Probes.',
  docs: 'This description itself.',
} as const;

export interface Route {
  readonly operationId: string;
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** As OpenAPI writes it: `/v1/calls/{id}`. */
  readonly path: `/${string}`;
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  readonly description?: string;
  /** What stands in the path, in its order. For the document: a handler is given the texts as they are. */
  readonly params?: { readonly [name: string]: Shape };
  /** An object; any parameter that it does not hold is refused. */
  readonly query?: Shape<z.ZodObject>;
  /** By the names that the document shows. */
  readonly headers?: Shape<z.ZodObject>;
  readonly body?: Body;
  /** By status. The first is the one that a handler answers with where it sets none. */
  readonly answers: { readonly [status: number]: Answer };
  /** Answers that are no JSON of one shape, and streams: the handler sends them itself. */
  readonly sendsItself?: boolean;
  /** Besides 401, 403 and what any route may answer. Left out: the route answers with no problem at all. */
  readonly problems?: readonly ProblemStatus[];
}

export interface Body<Of extends Shape = Shape> {
  readonly shape: Of;
  readonly example?: JsonValue;
  /** False: it may be left out. */
  readonly required?: boolean;
  /** Beside JSON. The handler then reads the body itself. */
  readonly types?: readonly string[];
}

export interface Answer<Of extends Shape = Shape> {
  readonly description: string;
  /** By media type; none: there is no body. */
  readonly content?: { readonly [type: string]: Of };
  readonly headers?: readonly HeaderName[];
}

export type ProblemStatus = 400 | 404 | 409 | 412;

export type HeaderName =
  | 'Deprecation'
  | 'Link'
  | 'RateLimit'
  | 'RateLimit-Policy'
  | 'Retry-After'
  | 'Location'
  | 'WWW-Authenticate'
  | 'Preference-Applied'
  | 'Idempotency-Replayed'
  | 'ETag';

/** Keeps the exact type of a declaration, so that its handler is held to it. */
export function route<const Declared extends Route>(declared: Declared): Declared {
  return declared;
}

/** `GET /v1/calls/:id`, as Fastify and Nest write it. */
export function fastifyPath({ path }: Pick<Route, 'path'>): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

/** JSON of one shape. */
export function json<Of extends Shape>(description: string, shape: Of, headers: readonly HeaderName[] = []) {
  return { description, headers, content: { 'application/json': shape } } satisfies Answer<Of>;
}

/** An answer that is JSON text already, or no JSON. Its handler has set the content type. */
export type Encoded = (string | Readable) & { readonly [ENCODED]: true };
declare const ENCODED: unique symbol;

export function encoded(body: string | Readable): Encoded {
  return body as Encoded;
}

type JsonOf<A> = A extends { readonly content: { readonly 'application/json': Shape<infer S> } }
  ? z.input<S>
  : A extends { readonly content: object }
    ? never
    : undefined;
type Success<Answers> = {
  [Status in keyof Answers]: `${Status & number}` extends `2${string}` ? JsonOf<Answers[Status]> : never;
};

/** What a handler of the route returns. */
export type AnswerOf<R extends Route> = Encoded | Success<R['answers']>[keyof R['answers']];
