// Sessions over gRPC, as over REST: the same shapes read, the same service decides, the same fields are shown.
import type { Metadata } from '@grpc/grpc-js';
import { Controller, Inject } from '@nestjs/common';
import { GrpcMethod } from '@nestjs/microservices';
import type { Authenticator } from '../../../ports/authenticator.ts';
import type { Sessions } from '../../../sessions/sessions.ts';
import type { ManagementActs } from '../../rest/management/acts.ts';
import { tokenOf } from '../../rest/route/page.ts';
import { listQuery, NewSession, sessionOf } from '../../rest/sessions/schema.ts';
import { sessionFields, sessionWithBudgets } from '../../session-view.ts';
import { AUTHENTICATOR, MANAGEMENT_ACTS, SESSIONS } from '../../tokens.ts';
import { exceptionFor } from '../rich-error.ts';
import { ENCODERS, SERVICE, type ByIdMessage, type Readable } from '../wire-types.ts';
import type { Connection } from '../execute/call-metadata.ts';
import { admittedBy, admittedTo, targetIn } from './admitted-caller.ts';
import { sessionMessage } from './call-message.ts';
import { readable, readAs } from './said-fields.ts';

@Controller()
export class SessionRpcController {
  constructor(
    @Inject(SESSIONS) private readonly sessions: Sessions,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    @Inject(MANAGEMENT_ACTS) private readonly acts: ManagementActs,
  ) {}

  @GrpcMethod(SERVICE, 'CreateSession')
  createSession(message: Readable<object>, metadata: Metadata, call: Connection): Promise<Uint8Array> {
    return answered(async () => {
      const act = { action: 'sessions.create', target: '', door: 'grpc', targetOf: idOf };
      const admitted = await admittedTo(act, this.acts, this.authenticator, metadata, call, 'tools:call');
      const {
        agent_id: agentId,
        user_id: userId,
        tenant_id: tenantId,
        mode,
      } = readAs(NewSession, readable(message));
      const view = await this.acts.perform(admitted, act, () =>
        this.sessions.create(admitted.principal, { agentId, userId, tenantId, mode }),
      );
      return ENCODERS.CreateSession({ session: sessionMessage(sessionWithBudgets(view)) });
    });
  }

  @GrpcMethod(SERVICE, 'GetSession')
  getSession(message: Readable<ByIdMessage>, metadata: Metadata, call: Connection): Promise<Uint8Array> {
    return answered(async () => {
      const { principal } = await admittedBy(
        this.authenticator,
        metadata,
        call,
        'tools:call',
        'sessions:read',
      );
      const { id, of } = readById(message);
      return ENCODERS.GetSession({
        session: sessionMessage(sessionWithBudgets(await this.sessions.get(principal, id, of))),
      });
    });
  }

  @GrpcMethod(SERVICE, 'ListSessions')
  listSessions(message: Readable<object>, metadata: Metadata, call: Connection): Promise<Uint8Array> {
    return answered(async () => {
      const { principal } = await admittedBy(
        this.authenticator,
        metadata,
        call,
        'tools:call',
        'sessions:read',
      );
      const query = readAs(listQuery, readable(message));
      const { page_size: limit, page_token: before, agent_id: agentId, user_id: userId, active } = query;
      const found = await this.sessions.list(principal, {
        limit: limit + 1,
        before,
        agentId,
        userId,
        active,
      });
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1)?.session.id : undefined;
      const sessions = page.map((each) => sessionMessage(sessionFields(each)));
      return ENCODERS.ListSessions({ sessions, nextPageToken: tokenOf(last) });
    });
  }

  @GrpcMethod(SERVICE, 'BeginTurn')
  beginTurn(message: Readable<ByIdMessage>, metadata: Metadata, call: Connection): Promise<Uint8Array> {
    return answered(async () => {
      const { principal } = await admittedBy(
        this.authenticator,
        metadata,
        call,
        'tools:call',
        'sessions:write',
      );
      const { id, of } = readById(message);
      const view = await this.sessions.nextTurn(principal, id, of);
      return ENCODERS.BeginTurn({ session: sessionMessage(sessionWithBudgets(view)) });
    });
  }

  @GrpcMethod(SERVICE, 'EndSession')
  endSession(message: Readable<ByIdMessage>, metadata: Metadata, call: Connection): Promise<Uint8Array> {
    return answered(async () => {
      const act = { action: 'sessions.end', target: targetIn(message), door: 'grpc' };
      const needed = ['tools:call', 'sessions:write'];
      const admitted = await admittedTo(act, this.acts, this.authenticator, metadata, call, ...needed);
      const { id, of } = readById(message);
      const view = await this.acts.perform(admitted, act, () =>
        this.sessions.end(admitted.principal, id, of),
      );
      return ENCODERS.EndSession({ session: sessionMessage(sessionWithBudgets(view)) });
    });
  }
}

const idOf = (made: unknown) => (made as { readonly session: { readonly id: string } }).session.id;

function readById(message: Readable<ByIdMessage>) {
  const { id, calledFor } = readable(message);
  const { sessionId: _session, ...who } = calledFor ?? {};
  const { agent_id: agentId, user_id: userId } = readAs(sessionOf, who);
  return { id, of: { agentId, userId } };
}

/** Anything that goes wrong is a status with its details. */
export async function answered<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (thrown) {
    throw exceptionFor(thrown);
  }
}
