// One logical call: sent until there is an answer that counts, under one idempotency key, within one deadline.
import { ConnectionError } from '../errors/gateway-error.ts';
import type { Envelope } from '../generated/gateway.ts';
import { policyOf, type CallContext, type CallDefaults, type CallOptions } from './call-options.ts';
import { Deadline } from './deadline.ts';
import { afterLoss, afterRefusal, delayMs, keyOf, type Verdict } from './retry.ts';

export interface WholeCall {
  readonly tool: string;
  readonly arguments: object;
  readonly options: CallOptions;
  readonly key: string | undefined;
  readonly async?: { readonly callback?: { readonly url: string } | undefined };
}

export interface Answered {
  readonly envelope: Envelope;
  readonly status: number;
}

export type Try = Answered | ConnectionError;

/** What is sent once. */
export interface Attempt extends Pick<WholeCall, 'tool' | 'arguments' | 'async'> {
  readonly context: CallContext;
  readonly key: string | undefined;
  /** The same was sent before under this key, and may be under way. */
  readonly repeats: boolean;
  readonly deadline: Deadline;
}

/** Over REST or gRPC. Rejects where another try is of no use. */
export type SendOnce = (attempt: Attempt) => Promise<Try>;

/** A key for each call, unless the caller says one or wants none. */
export function idempotencyKeyOf(
  { idempotencyKey, context }: CallOptions,
  made: boolean,
): string | undefined {
  if (idempotencyKey === false || context?.dry_run === true) return undefined;
  return idempotencyKey ?? (made ? crypto.randomUUID() : undefined);
}

export async function sendCall(
  sendOnce: SendOnce,
  defaults: CallDefaults,
  call: WholeCall,
): Promise<Answered> {
  const { options, key, tool, arguments: args, async } = call;
  const context = { ...defaults.context, ...options.context };
  const policy = policyOf(options.retry, defaults.retry);
  const deadline = new Deadline(options.timeoutMs ?? defaults.timeoutMs, options.signal);
  const protection = { hasKey: key !== undefined, mayRepeat: options.mayRepeat ?? false };
  let attempt = 1;
  let ended = 0;
  let repeats = false;
  for (;;) {
    deadline.throwIfOver();
    const keyOfTry = key === undefined ? undefined : keyOf(key, ended);
    const tried = await sendOnce({
      tool,
      arguments: args,
      ...(async && { async }),
      context,
      key: keyOfTry,
      repeats,
      deadline,
    });
    const verdict = verdictOn(tried, protection);
    if (!verdict.again) return settled(tried);
    if (verdict.underWay !== true) attempt += 1;
    if (attempt > policy.maxAttempts) return settled(tried);
    if (!verdict.sameKey) ended += 1;
    repeats = verdict.sameKey;
    const ms = delayMs(policy, attempt - 1, verdict.retryAfterMs);
    if (ms >= deadline.leftMs) return settled(tried);
    await deadline.pause(ms);
  }
}

function verdictOn(tried: Try, protection: { hasKey: boolean; mayRepeat: boolean }): Verdict {
  if (tried instanceof ConnectionError) return afterLoss(tried, protection);
  const { envelope } = tried;
  return envelope.ok ? { again: false } : afterRefusal(envelope, protection);
}

function settled(tried: Try): Answered {
  if (tried instanceof ConnectionError) throw tried;
  return tried;
}

export function isEnvelope(body: unknown): body is Envelope {
  return typeof body === 'object' && body !== null && 'ok' in body && 'meta' in body;
}
