// Sessions by REST: declare, list, look, begin a turn, end, and the calls of one.
import { Controller, Inject } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { CallHistory } from '../../../ports/calls/call-history.ts';
import type { Sessions, SessionView } from '../../../sessions/sessions.ts';
import { CALL_HISTORY, SESSIONS } from '../../tokens.ts';
import { sessionFields, sessionWithBudgets } from '../../session-view.ts';
import { nextPage, pageOfHistory } from '../calls/history-query.ts';
import { CallSummary } from '../calls/schema.ts';
import { Recorded } from '../management/acts.ts';
import { Requires } from '../management/permissions.ts';
import type { Asked } from '../route/asked.ts';
import { tokenOf } from '../route/page.ts';
import { Serves } from '../route/serves.ts';
import { wire } from '../route/wire.ts';
import {
  beginTurn,
  createSession,
  endSession,
  getSession,
  listSessionCalls,
  listSessions,
  type SaidOf,
} from './schema.ts';

@Controller()
export class SessionsController {
  constructor(
    @Inject(SESSIONS) private readonly sessions: Sessions,
    @Inject(CALL_HISTORY) private readonly history: CallHistory,
  ) {}

  @Serves(createSession)
  @Requires('tools:call')
  @Recorded('sessions.create', { targetOf: (answer) => (answer as { readonly id: string }).id })
  async create({ principal, body }: Asked<typeof createSession>, reply: FastifyReply) {
    const { agent_id: agentId, user_id: userId, tenant_id: tenantId, mode } = body;
    const view = await this.sessions.create(principal, { agentId, userId, tenantId, mode });
    reply.header('location', `/v1/sessions/${view.session.id}`);
    return sessionWithBudgets(view);
  }

  @Serves(listSessions)
  @Requires('tools:call', 'sessions:read')
  async list({ principal, query }: Asked<typeof listSessions>) {
    const { page_size: limit, page_token: before, agent_id: agentId, user_id: userId, active } = query;
    const found = await this.sessions.list(principal, { limit: limit + 1, before, agentId, userId, active });
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1)?.session.id : undefined;
    return { sessions: page.map(sessionFields), next_page_token: tokenOf(last) };
  }

  @Serves(getSession)
  @Requires('tools:call', 'sessions:read')
  async get({ principal, params, query }: Asked<typeof getSession>) {
    return sessionWithBudgets(await this.sessions.get(principal, params.id, sessionOf(query)));
  }

  @Serves(beginTurn)
  @Requires('tools:call', 'sessions:write')
  async turn({ principal, params, query }: Asked<typeof beginTurn>) {
    return sessionWithBudgets(await this.sessions.nextTurn(principal, params.id, sessionOf(query)));
  }

  @Serves(endSession)
  @Requires('tools:call', 'sessions:write')
  @Recorded('sessions.end')
  async end({ principal, params, query }: Asked<typeof endSession>) {
    return sessionWithBudgets(await this.sessions.end(principal, params.id, sessionOf(query)));
  }

  @Serves(listSessionCalls)
  @Requires('tools:call', 'sessions:read')
  async calls({ principal, params, query }: Asked<typeof listSessionCalls>) {
    const { session }: SessionView = await this.sessions.get(principal, params.id, sessionOf(query));
    const page = { filter: { sessionId: session.id }, ...pageOfHistory(query) };
    const { rows, next } = await this.history.calls(principal.tenantId, page);
    return { calls: rows.map((call) => wire(CallSummary, call)), next_page_token: nextPage(next) };
  }
}

function sessionOf({ agent_id: agentId, user_id: userId }: SaidOf) {
  return { agentId, userId };
}
