// What requests that hold several calls share: who asks, what each call has of the headers, and who is told that the caller is gone.
import type { FastifyReply } from 'fastify';
import { isReason } from '../../../contract/call/reasons/is-reason.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { Authenticator } from '../../../ports/authenticator.ts';
import type { CallEnvironment } from './read-call.ts';

/**
 * Who has no key, or names a tenant that the key does not serve, is told that alone, and audited once, whatever the list
 * holds. Where no header names a tenant, each call of the list may.
 */
export async function strangerOf(
  { credential, traced, wrongTenant }: CallEnvironment,
  authenticator: Pick<Authenticator, 'authenticate'>,
): Promise<ToolFailure | undefined> {
  if (wrongTenant !== undefined) return wrongTenant;
  try {
    await authenticator.authenticate(credential, traced.tenantId);
    return undefined;
  } catch (error) {
    if (error instanceof ToolFailure) return isReason(error, 'TENANT_REQUIRED') ? undefined : error;
    throw error;
  }
}

/** One key stands for the whole list: each entry has its own part of it. */
export function environmentOfEntry(env: CallEnvironment, index: number): CallEnvironment {
  const { idempotencyKey } = env.traced;
  if (idempotencyKey === undefined) return env;
  return { ...env, traced: { ...env.traced, idempotencyKey: `${idempotencyKey}#${index}` } };
}

/** Calls everybody back when the connection closes before the answer is out. */
export function goneFrom(reply: FastifyReply): (gone: () => void) => void {
  const waiting: (() => void)[] = [];
  reply.raw.once('close', () => {
    if (reply.raw.writableFinished) return;
    for (const gone of waiting) gone();
  });
  return (gone) => void waiting.push(gone);
}
