// Management routes without a server: what a handler answers to a request, read as its declaration says.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Credential, Principal } from '../../src/contract/call/principal.ts';
import { ToolFailure } from '../../src/contract/call/tool-failure.ts';
import type { AuditRecord, AuditSink } from '../../src/ports/audit-sink.ts';
import type { Authenticator } from '../../src/ports/authenticator.ts';
import { ManagementActs } from '../../src/api/rest/management/acts.ts';
import { admit } from '../../src/api/rest/management/admitted.ts';
import { readAsked } from '../../src/api/rest/route/asked.ts';
import type { AnswerOf, Route } from '../../src/api/rest/route/route.ts';
import { routeOf } from '../../src/api/rest/route/serves.ts';
import { FakeClock } from './fake-clock.ts';
import { quietLog } from './quiet-log.ts';

/** Of tenant acme, by the name of op. */
export function operatorWith(permissions: readonly string[]): Principal {
  const rights = { roles: [], permissions: new Set(permissions) };
  return { id: 'op', tenantId: 'acme', agents: ['*'], userId: 'olga', ...rights };
}

/** The bearer token lists the permissions, as `requestWith` writes it. */
export const namedPermissions: Authenticator = {
  authenticate(credential: Credential) {
    if (credential.kind !== 'bearer') throw new ToolFailure('AUTH', 'A credential is needed.');
    return operatorWith(credential.token.split(' '));
  },
  recall() {
    throw new Error('no principal is recalled here');
  },
};

/** Acts that are recorded in a list. */
export function recordedActs(sink: Partial<AuditSink> = {}) {
  const records: AuditRecord[] = [];
  const kept: Partial<AuditSink> = {
    ready: () => undefined,
    write: async (record) => void records.push(record),
  };
  const acts = new ManagementActs(only({ ...kept, ...sink }), new FakeClock(), quietLog);
  return { acts, records };
}

export interface Said {
  readonly permissions?: readonly string[];
  /** An object becomes JSON; a ToolFailure stands for a body that was refused on its way in. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
}

export interface Told<Body> {
  readonly body: Body;
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
}

/** The handler's answer, for a caller whom its route has let in. Rejects with what the request is refused with. */
export async function ask<R extends Route>(
  controller: object,
  route: R,
  said: Said = {},
): Promise<Told<AnswerOf<R>>> {
  const request = requestWith({ permissions: [], ...said });
  const { reply, said: told } = recordingReply();
  const asked = readAsked(
    route,
    request,
    admit(request, operatorWith(said.permissions ?? []), async () => {}),
  );
  const body = (await handlerOf(controller, route).call(controller, asked, reply)) as AnswerOf<R>;
  return { body, status: told.status, headers: told.headers };
}

function handlerOf(controller: object, route: Route) {
  const prototype: object = Object.getPrototypeOf(controller);
  const handlers = Object.getOwnPropertyNames(prototype).map((name): unknown => Reflect.get(prototype, name));
  const handler = handlers.find((each) => routeOf(each) === route);
  if (typeof handler !== 'function') throw new Error(`nothing here serves ${route.operationId}`);
  return handler;
}

/** Without permissions: without a credential. */
export function requestWith({
  permissions,
  body,
  headers = {},
  params = {},
  query = {},
}: Said): FastifyRequest {
  const isRaw = body === undefined || body instanceof ToolFailure;
  const authorization = permissions && { authorization: `Bearer ${permissions.join(' ')}` };
  const request = {
    method: 'GET',
    params,
    query,
    headers: { ...headers, ...authorization },
    body: isRaw ? body : Buffer.from(JSON.stringify(body)),
  };
  return request as unknown as FastifyRequest;
}

/** What a route told the reply. */
export function recordingReply() {
  const said = { status: 200, headers: new Map<string, string>(), sent: undefined as unknown };
  const reply = {
    code: (status: number) => ((said.status = status), reply),
    header: (name: string, value: string) => (said.headers.set(name, value), reply),
    send: (sent: unknown) => ((said.sent = sent), reply),
  };
  return { said, reply: reply as unknown as FastifyReply };
}

/** A port of these methods alone, or of none: any other fails the test when it is called. */
export function only<Port extends object>(methods: Partial<Port> = {}): Port {
  const method = (_target: object, name: string | symbol) => {
    const known: unknown = Reflect.get(methods, name);
    // Nest asks every provider for them.
    const isHook = name === 'then' || /^(on|before)[A-Z]/.test(String(name));
    return known ?? (isHook ? undefined : refuse(name));
  };
  return new Proxy({}, { get: method }) as Port;
}

function refuse(name: string | symbol) {
  return () => {
    throw new Error(`${String(name)} was called`);
  };
}
