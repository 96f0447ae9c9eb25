// What requests that hold several calls share: who asks, what each call has of the headers, and who is told that the caller is gone.
import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { isReason } from '../../../contract/call/reasons/is-reason.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { Authenticator } from '../../../ports/authenticator.ts';
import { withoutAddress } from '../../shown-credential.ts';
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

/** For the call that is refused in place of all. A credential that was found to be wrong is counted already. */
export function environmentOfRefused(env: CallEnvironment, refusal: ToolFailure): CallEnvironment {
  const isCounted = isReason(refusal, 'CREDENTIAL_INVALID') || isReason(refusal, 'CREDENTIALS_DIFFER');
  return isCounted ? { ...env, credential: withoutAddress(env.credential) } : env;
}

/** As long as a key may be; what is longer, or no key, stays as it is, and is refused as such. */
const WHOLE_KEY = /^[\x21-\x7e]{1,255}$/;
const LONGEST_KEY = 255;

/** One key stands for all calls of the request: each has its own part of it. `said`: left out, the key of the headers. */
export function environmentOfPart(
  env: CallEnvironment,
  part: string | number,
  said = env.traced.idempotencyKey,
): CallEnvironment {
  if (said === undefined) return env;
  const isTooLong = said.length + String(part).length >= LONGEST_KEY && WHOLE_KEY.test(said);
  const whole = isTooLong ? hash('sha256', said) : said;
  return { ...env, traced: { ...env.traced, idempotencyKey: `${whole}#${part}` } };
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
