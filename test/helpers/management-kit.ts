// Requests and answers of management routes without a server, and a credential that names its own permissions.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Credential, Principal } from '../../src/contract/call/principal.ts';
import { ToolFailure } from '../../src/contract/call/tool-failure.ts';
import type { AuditRecord, AuditSink } from '../../src/ports/audit-sink.ts';
import type { Authenticator } from '../../src/ports/authenticator.ts';
import { ManagementActs } from '../../src/api/rest/management-acts.ts';
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
    if (credential.kind === 'none') throw new ToolFailure('AUTH', 'A credential is needed.');
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
  const acts = new ManagementActs(namedPermissions, only({ ...kept, ...sink }), new FakeClock(), quietLog);
  return { acts, records };
}

export interface Said {
  readonly permissions?: readonly string[];
  /** An object becomes JSON; a ToolFailure stands for a body that was refused on its way in. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Without permissions: without a credential. */
export function requestWith({ permissions, body, headers = {} }: Said): FastifyRequest {
  const isRaw = body === undefined || body instanceof ToolFailure;
  const authorization = permissions && { authorization: `Bearer ${permissions.join(' ')}` };
  const request = {
    method: 'GET',
    query: {},
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
    return known ?? refuse(name);
  };
  return new Proxy({}, { get: method }) as Port;
}

function refuse(name: string | symbol) {
  return () => {
    throw new Error(`${String(name)} was called`);
  };
}
