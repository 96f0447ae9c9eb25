// Webhooks that were given up, by REST: which, why, and sending one again.
import { Controller, Inject } from '@nestjs/common';
import type { AsyncCalls } from '../../../calls/async-calls.ts';
import { ASYNC_CALLS } from '../../tokens.ts';
import { Recorded } from '../management/acts.ts';
import { Requires } from '../management/permissions.ts';
import type { Asked } from '../route/asked.ts';
import { tokenOf } from '../route/page.ts';
import { Serves } from '../route/serves.ts';
import { wire } from '../route/wire.ts';
import { listDeadWebhooks, redeliverWebhook, DeadWebhook } from './schema.ts';

@Controller()
export class WebhooksController {
  constructor(@Inject(ASYNC_CALLS) private readonly calls: AsyncCalls) {}

  @Serves(listDeadWebhooks)
  @Requires('admin')
  async dead({ principal, query }: Asked<typeof listDeadWebhooks>) {
    const { page_size: limit, page_token: after } = query;
    const found = await this.calls.dead(principal, limit, after);
    const last = found.length === limit ? found.at(-1) : undefined;
    return {
      webhooks: found.map((webhook) => wire(DeadWebhook, webhook)),
      next_page_token: tokenOf(last?.id),
    };
  }

  @Serves(redeliverWebhook)
  @Requires('admin')
  @Recorded('webhooks.redeliver')
  async redeliver({ principal, params: { id } }: Asked<typeof redeliverWebhook>) {
    await this.calls.redrive(principal, id.slice(0, 64));
    return { id, status: 'pending' as const };
  }
}
