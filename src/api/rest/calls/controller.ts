// Calls by REST: the history of the caller's tenant; and of one that runs later, where it stands, what it says, and its end.
import { Controller, Inject } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { AsyncCalls } from '../../../calls/async-calls.ts';
import type { Followed } from '../../../calls/follow/follow-call.ts';
import { toolFailure } from '../../../contract/call/failure.ts';
import type { CallHistory } from '../../../ports/calls/call-history.ts';
import type { StoredCall } from '../../../ports/calls/call-store.ts';
import { ASYNC_CALLS, CALL_HISTORY } from '../../tokens.ts';
import { Recorded } from '../management/acts.ts';
import { Requires } from '../management/permissions.ts';
import type { Asked } from '../route/asked.ts';
import { encoded } from '../route/route.ts';
import { Serves } from '../route/serves.ts';
import { wire } from '../route/wire.ts';
import { credentialOf } from '../server/credential.ts';
import { EventStream } from './event-stream.ts';
import { nextPage, pageOfHistory } from './history-query.ts';
import {
  CallSummary,
  cancelCall,
  followCall,
  getCall,
  listCalls,
  resolveCall,
  retryCall,
  type CalledFor,
} from './schema.ts';
import { callJson } from './wire-call.ts';

@Controller()
export class CallsController {
  constructor(
    @Inject(CALL_HISTORY) private readonly history: CallHistory,
    @Inject(ASYNC_CALLS) private readonly calls: AsyncCalls,
  ) {}

  @Serves(listCalls)
  @Requires('calls:read')
  async list({ principal, query }: Asked<typeof listCalls>) {
    const { tool, status, error_type: errorType, from, to } = query;
    const { agent_id: agentId, session_id: sessionId } = query;
    const filter = { tool, status, errorType, agentId, sessionId, from, to };
    const page = { filter, ...pageOfHistory(query) };
    const { rows, next } = await this.history.calls(principal.tenantId, page);
    return { calls: rows.map((call) => wire(CallSummary, call)), next_page_token: nextPage(next) };
  }

  @Serves(resolveCall)
  @Requires('admin')
  @Recorded('calls.resolve', { recordsItself: true })
  async resolve({ principal, params: { id }, body }: Asked<typeof resolveCall>) {
    const comment = body.comment.replaceAll('\0', '').toWellFormed();
    const resolution = { outcome: body.outcome, comment, by: principal.id };
    const found = id.includes('\0')
      ? undefined
      : await this.history.resolve(principal.tenantId, id, resolution);
    if (found === undefined) throw toolFailure('CALL_NOT_FOUND', 'There is no call of this id.');
    if (found.resolved) return wire(CallSummary, found.call);
    const message = `Only an outcome that is unknown can be resolved; this call is ${found.status}.`;
    throw toolFailure('OUTCOME_KNOWN', message, { retryable: false });
  }

  @Serves(getCall)
  @Requires()
  async get({ principal, params, query }: Asked<typeof getCall>, reply: FastifyReply) {
    const call = await this.calls.get(principal, params.id, calledFor(query));
    if (call.finishedAt === null) reply.header('retry-after', '1');
    return this.#shown(reply, call);
  }

  @Serves(cancelCall)
  @Requires()
  @Recorded('calls.cancel', { on: 'call' })
  async cancel({ principal, params, query }: Asked<typeof cancelCall>, reply: FastifyReply) {
    return this.#shown(reply, await this.calls.cancel(principal, params.id, calledFor(query)));
  }

  @Serves(retryCall)
  @Requires()
  @Recorded('calls.retry', { on: 'call' })
  async retry({ principal, params, body, request }: Asked<typeof retryCall>, reply: FastifyReply) {
    const { force, confirmation_token: confirmationToken } = body;
    const by = { credential: credentialOf(request), door: 'rest' };
    const wish = { ...by, force, ...(confirmationToken !== undefined && { confirmationToken }) };
    const call = await this.calls.retry(principal, params.id, wish);
    reply.header('location', `/v1/calls/${call.id}`);
    return this.#shown(reply, call);
  }

  @Serves(followCall)
  @Requires()
  async follow(asked: Asked<typeof followCall>, reply: FastifyReply): Promise<void> {
    const { principal, params, query, headers } = asked;
    const after = headers['Last-Event-ID'] ?? 0;
    const gone = new AbortController();
    const followed = await this.calls.follow(principal, params.id, after, gone.signal, calledFor(query));
    const stream = new EventStream(reply, asked.stillAllowed);
    stream.gone.addEventListener('abort', () => gone.abort(), { once: true });
    for await (const news of followed) await this.#send(stream, news);
    stream.close();
  }

  async #send(stream: EventStream, news: Followed): Promise<void> {
    if (news.kind === 'event') {
      const { seq, kind, data } = news.event;
      return stream.send(kind, JSON.stringify(data), seq);
    }
    if (news.kind === 'reconnect') return stream.send('reconnect', '{}');
    return stream.send('result', this.calls.envelopeOf(news.call) ?? 'null', news.seq);
  }

  #shown(reply: FastifyReply, call: StoredCall) {
    reply.header('content-type', 'application/json; charset=utf-8');
    return encoded(callJson(call, this.calls.envelopeOf(call)));
  }
}

function calledFor({ agent_id: agentId, user_id: userId, session_id: sessionId }: CalledFor) {
  return { agentId, userId, sessionId };
}
