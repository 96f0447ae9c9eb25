// One logical call: sent until there is an answer that counts, under one idempotency key, within one deadline.
import { ConnectionError } from '../errors/gateway-error.ts';
import type { Envelope } from '../generated/gateway.ts';
import { policyOf, type CallDefaults, type CallOptions } from './call-options.ts';
import { Deadline } from './deadline.ts';
import { afterLoss, afterRefusal, delayMs, keyOf, type Verdict } from './retry.ts';
import { pathOf, problemOf, retryAfterOf, type Transport } from './transport.ts';

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

type Try = Answered | ConnectionError;
const MAX_WAIT_S = 60;

/** A key for each call, unless the caller says one or wants none. */
export function idempotencyKeyOf(
  { idempotencyKey, context }: CallOptions,
  made: boolean,
): string | undefined {
  if (idempotencyKey === false || context?.dry_run === true) return undefined;
  return idempotencyKey ?? (made ? crypto.randomUUID() : undefined);
}

export async function sendCall(
  transport: Transport,
  defaults: CallDefaults,
  call: WholeCall,
): Promise<Answered> {
  const { options, key } = call;
  const policy = policyOf(options.retry, defaults.retry);
  const deadline = new Deadline(options.timeoutMs ?? defaults.timeoutMs, options.signal);
  const protection = { hasKey: key !== undefined, mayRepeat: options.mayRepeat ?? false };
  let attempt = 1;
  let ended = 0;
  let repeats = false;
  for (;;) {
    deadline.throwIfOver();
    const header = key === undefined ? undefined : keyOf(key, ended);
    const tried = await trySending(transport, defaults, call, { deadline, key: header, repeats });
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

async function trySending(
  transport: Transport,
  { context: shared }: CallDefaults,
  call: WholeCall,
  { deadline, key, repeats }: { deadline: Deadline; key: string | undefined; repeats: boolean },
): Promise<Try> {
  const context = { ...shared, ...call.options.context };
  const leftMs = Math.max(1, Math.floor(deadline.leftMs));
  // A try whose answer was lost may be under way still: the gateway waits for its end.
  const wait = repeats && key !== undefined ? [`wait=${Math.min(MAX_WAIT_S, Math.ceil(leftMs / 1000))}`] : [];
  const prefer = [...(call.async === undefined ? [] : ['respond-async']), ...wait];
  try {
    const answer = await transport.send({
      method: 'POST',
      path: pathOf('/v1/tools/{tool}/execute', { tool: call.tool }),
      body: {
        arguments: call.arguments,
        ...(Object.keys(context).length > 0 && { context }),
        ...(call.async?.callback !== undefined && { callback: call.async.callback }),
      },
      headers: {
        'idempotency-key': key,
        'x-request-timeout-ms': Number.isFinite(leftMs) ? String(leftMs) : undefined,
        prefer: prefer.length === 0 ? undefined : prefer.join(', '),
      },
      signal: deadline.signal,
    });
    if (isEnvelope(answer.body)) return { envelope: answer.body, status: answer.status };
    const problem = problemOf(answer);
    if (!(problem instanceof ConnectionError)) throw problem;
    const retryAfterMs = retryAfterOf(answer.headers);
    return new ConnectionError(problem.message, { status: answer.status, retryAfterMs });
  } catch (error) {
    if (error instanceof ConnectionError) return error;
    deadline.throwIfOver(error);
    throw error;
  }
}

export function isEnvelope(body: unknown): body is Envelope {
  return typeof body === 'object' && body !== null && 'ok' in body && 'meta' in body;
}
