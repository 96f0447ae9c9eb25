// Webhooks that were given up, by REST: which, why, and sending one again.
import { Controller, Get, HttpCode, Inject, Param, Post, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { AsyncCalls } from '../../calls/async-calls.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import type { DeadWebhook } from '../../ports/calls/webhook-store.ts';
import { ASYNC_CALLS, AUTHENTICATOR, MANAGEMENT_ACTS } from '../tokens.ts';
import type { ManagementActs } from './management-acts.ts';
import { requirePermission } from './management.ts';
import { pageSize } from './page.ts';
import { invalid } from './read-call.ts';

const ID = /^[0-9a-f-]{36}$/;

@Controller('v1/admin/webhooks')
export class WebhooksController {
  constructor(
    @Inject(ASYNC_CALLS) private readonly calls: AsyncCalls,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    @Inject(MANAGEMENT_ACTS) private readonly acts: ManagementActs,
  ) {}

  @Get('dead')
  async dead(
    @Req() request: FastifyRequest,
    @Query('page_size') size?: string,
    @Query('page_token') token?: string,
  ) {
    const principal = requirePermission(this.authenticator, request, 'admin');
    if (token !== undefined && !ID.test(token))
      throw invalid('/page_token', 'must be a next_page_token of this list');
    const limit = pageSize(size);
    const found = await this.calls.dead(principal, limit, token);
    const last = found.length === limit ? found.at(-1) : undefined;
    return { webhooks: found.map(wireWebhook), next_page_token: last?.id ?? '' };
  }

  @Post(':id/redeliver')
  @HttpCode(200)
  redeliver(@Req() request: FastifyRequest, @Param('id') id: string) {
    const act = { action: 'webhooks.redeliver', permission: 'admin', target: id };
    return this.acts.perform(request, act, async (principal) => {
      await this.calls.redrive(principal, id.slice(0, 64));
      return { id, status: 'pending' };
    });
  }
}

function wireWebhook(webhook: DeadWebhook) {
  return {
    id: webhook.id,
    call_id: webhook.callId,
    url: webhook.url,
    attempts: webhook.attempts,
    last_error: webhook.lastError,
    created_at: webhook.createdAt.toISOString(),
    finished_at: webhook.finishedAt.toISOString(),
  };
}
