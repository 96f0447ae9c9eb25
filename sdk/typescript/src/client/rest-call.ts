// One try of a call over REST.
import { ConnectionError } from '../errors/gateway-error.ts';
import { isEnvelope, type Attempt, type SendOnce, type Try } from './send-call.ts';
import { pathOf, problemOf, retryAfterOf, type Transport } from './transport.ts';

const MAX_WAIT_S = 60;

export function restCalls(transport: Transport): SendOnce {
  return (attempt) => trySending(transport, attempt);
}

async function trySending(transport: Transport, attempt: Attempt): Promise<Try> {
  const { tool, context, key, repeats, deadline, async } = attempt;
  const leftMs = Math.max(1, Math.floor(deadline.leftMs));
  // A try whose answer was lost may be under way still: the gateway waits for its end.
  const wait = repeats && key !== undefined ? [`wait=${Math.min(MAX_WAIT_S, Math.ceil(leftMs / 1000))}`] : [];
  const prefer = [...(async === undefined ? [] : ['respond-async']), ...wait];
  try {
    const answer = await transport.send({
      method: 'POST',
      path: pathOf('/v1/tools/{tool}/execute', { tool }),
      body: {
        arguments: attempt.arguments,
        ...(Object.keys(context).length > 0 && { context }),
        ...(async?.callback !== undefined && { callback: async.callback }),
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
