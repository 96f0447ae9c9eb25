// Calls that run later, by REST: where one stands, what it says, cancelling it, running it again.
import { Controller, Delete, Get, HttpCode, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isJsonObject } from '../../contract/json.ts';
import type { AsyncCalls, CalledFor } from '../../calls/async-calls.ts';
import type { Followed } from '../../calls/follow-call.ts';
import type { RetryWish } from '../../calls/agree-to-retry.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import type { StoredCall } from '../../ports/calls/call-store.ts';
import { ASYNC_CALLS, AUTHENTICATOR, MANAGEMENT_ACTS } from '../tokens.ts';
import type { Principal } from '../../contract/call/principal.ts';
import { textOf, type Query as CallQuery } from './history-query.ts';
import { askedForApproval } from './ask-for-approval.ts';
import { EventStream } from './event-stream.ts';
import type { ManagementActs } from './management-acts.ts';
import { authenticated } from './management.ts';
import { bodyOf, credentialOf, invalid } from './read-call.ts';
import { callJson } from './wire-call.ts';

@Controller('v1/calls')
export class AsyncCallsController {
  constructor(
    @Inject(ASYNC_CALLS) private readonly calls: AsyncCalls,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    @Inject(MANAGEMENT_ACTS) private readonly acts: ManagementActs,
  ) {}

  @Get(':id')
  async get(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Param('id') id: string,
    @Query() query: CallQuery = {},
  ): Promise<void> {
    const call = await this.calls.get(this.#principal(request), id, calledFor(query));
    if (call.finishedAt === null) reply.header('retry-after', '1');
    this.#send(reply, call);
  }

  @Delete(':id')
  async cancel(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Param('id') id: string,
    @Query() query: CallQuery = {},
  ): Promise<void> {
    const act = { action: 'calls.cancel', target: id, callId: id };
    const cancel = (principal: Principal) => this.calls.cancel(principal, id, calledFor(query));
    this.#send(reply, await this.acts.perform(request, act, cancel));
  }

  @Post(':id/retry')
  @HttpCode(200)
  async retry(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Param('id') id: string,
  ): Promise<void> {
    const act = { action: 'calls.retry', target: id, callId: id };
    const call = await this.acts
      .perform(request, act, (principal) => {
        const by = { credential: credentialOf(request.headers), door: 'rest' };
        return this.calls.retry(principal, id, { ...by, ...retryOf(bodyOf(request)) });
      })
      .catch((error: unknown) => askedForApproval(reply, error));
    if (call === undefined) return;
    reply.code(200).header('location', `/v1/calls/${call.id}`);
    this.#send(reply, call);
  }

  @Get(':id/events')
  async events(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Param('id') id: string,
    @Query() query: CallQuery = {},
  ): Promise<void> {
    const after = lastEventId(request);
    const of = calledFor(query);
    const gone = new AbortController();
    const followed = await this.calls.follow(this.#principal(request), id, after, gone.signal, of);
    const stream = new EventStream(reply);
    stream.gone.addEventListener('abort', () => gone.abort(), { once: true });
    for await (const news of followed) await this.#tell(stream, news);
    stream.close();
  }

  async #tell(stream: EventStream, news: Followed): Promise<void> {
    if (news.kind === 'event') {
      const { seq, kind, data } = news.event;
      return stream.send(kind, JSON.stringify(data), seq);
    }
    if (news.kind === 'reconnect') return stream.send('reconnect', '{}');
    return stream.send('result', this.calls.envelopeOf(news.call) ?? 'null', news.seq);
  }

  #principal(request: FastifyRequest) {
    return authenticated(this.authenticator, request);
  }

  #send(reply: FastifyReply, call: StoredCall): void {
    reply.header('content-type', 'application/json; charset=utf-8');
    reply.send(callJson(call, this.calls.envelopeOf(call)));
  }
}

function calledFor(query: CallQuery): CalledFor {
  return {
    agentId: textOf(query, 'agent_id'),
    userId: textOf(query, 'user_id'),
    sessionId: textOf(query, 'session_id'),
  };
}

function retryOf(body: unknown): Pick<RetryWish, 'force' | 'confirmationToken'> {
  if (!isJsonObject(body)) throw invalid('', 'must be an object: {"force": true}, or empty');
  const { force = false, confirmation_token: token } = body;
  if (typeof force !== 'boolean') throw invalid('/force', 'must be true or false');
  if (token === undefined) return { force };
  if (typeof token !== 'string' || token.length === 0 || token.length > 512)
    throw invalid('/confirmation_token', 'must be the token that came with the approval');
  return { force, confirmationToken: token };
}

function lastEventId({ headers }: FastifyRequest): number {
  const said = headers['last-event-id'];
  if (said === undefined || said === '') return 0;
  if (typeof said === 'string' && /^\d{1,9}$/.test(said)) return Number(said);
  throw invalid('', 'header Last-Event-ID must be the id of an event of this call');
}
