// Assembles what tells approvers: messages to the hooks of gateway.yaml, and the reminder of what expires soon.
import { DEFERRED_SERIES } from '../../ports/telemetry/series/deferred.ts';
import { ApprovalFeed } from '../../core/approval-feed.ts';
import { every, type Repeated } from '../../lib/timers/every.ts';
import { approvalMessage } from '../../webhooks/approval-message.ts';
import { CallbackRules } from '../../webhooks/callback-rules.ts';
import { WebhookSender } from '../../webhooks/webhook-sender.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import type { Infra } from '../adapters/create-ports.ts';

export interface ApprovalWord {
  readonly feed: ApprovalFeed;
  start(): void;
  stop(): Promise<void>;
}

const REMIND_MS = 1_000;

/** Throws Error where gateway.yaml names a hook that webhooks may not go to. */
export function createApprovalNotices(settings: Settings, { ports, approvers }: Infra): ApprovalWord {
  const { notify } = settings.approvals;
  const rules = new CallbackRules(settings.webhooks);
  for (const [index, { url }] of notify.entries()) {
    const refusal = rules.refusal(url);
    if (refusal !== undefined)
      throw new Error(
        `approvals.notify[${index}].url of gateway.yaml ${refusal}: name its host in webhooks.allow_hosts, and set webhooks.secret`,
      );
  }
  const mails = new Map(notify.map(({ name, email }) => [name, email]));
  const publicUrl = settings.approvals.public_url ?? settings.oauth.public_url;
  const sender = new WebhookSender({
    ...ports,
    outbox: approvers.notices,
    random: Math.random,
    rules,
    bodyOf: (due) => approvalMessage(due, { mails: mails.get(due.hook) ?? [], publicUrl }),
    about: ({ hook, kind, approval: { id } }) => ({ hook, event: kind, approvalId: id }),
    counted: DEFERRED_SERIES.ute_approval_notices_total,
  });
  let reminders: Repeated | undefined;
  return {
    feed: new ApprovalFeed({ notices: approvers.notices, clock: ports.clock }),
    start() {
      const { clock, log } = ports;
      const failed = (error: unknown) =>
        log.warn({ err: error }, 'approvals that expire soon could not be looked for: it is tried again');
      const period = { ms: REMIND_MS, jitter: 0.1 };
      reminders = every(clock, period, async () => void (await approvers.notices.remind()), failed);
      if (notify.length > 0) sender.start();
    },
    async stop() {
      // A statement that hangs is not waited for.
      void reminders?.stop();
      await sender.stop();
    },
  };
}
