// What an upstream's status means when it is not a result, and what of its body callers read: bounded, scrubbed, and marked as
// words that nobody vouches for.
import { statusReason } from '../../contract/call/reasons/status-reason.ts';
import { typeOfStatus } from '../../contract/call/reasons/status-type.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { describeUpstream } from '../../lib/upstream-error/describe-upstream.ts';
import { retryAfterMsOf } from '../../lib/upstream-error/retry-after.ts';
import type { SecretScrubber } from '../../lib/secrets/scrub-secrets.ts';
import type { HttpResponse } from '../../ports/egress/http-client.ts';

/** Upstreams that turned the request down did nothing; a conflict or a timeout may come halfway. */
const MAY_HAVE_ACTED: ReadonlySet<number> = new Set([408, 409]);

const EXCERPT_LENGTH = 2_048;
/** Far more than the excerpt: a secret must not be cut in two before it is scrubbed. */
const SCRUBBED_BYTES = 65_536;

export function upstreamFailure(
  status: number,
  response: HttpResponse | undefined,
  now: number,
  scrubber: Pick<SecretScrubber, 'text' | 'json'> | undefined,
  shows: boolean,
): ToolFailure {
  const refused = status >= 400 && status < 500 && !MAY_HAVE_ACTED.has(status);
  const retryAfter = status === 429 || status === 503 ? response?.headers['retry-after'] : undefined;
  const retryAfterMs = typeof retryAfter === 'string' ? retryAfterMsOf(retryAfter, now) : undefined;
  const said =
    response !== undefined && scrubber !== undefined && shows && !isRedirect(status)
      ? describeUpstream(response, scrubber)
      : undefined;
  return new ToolFailure(typeOfStatus(status), messageOf(status, said?.message), {
    origin: 'tool',
    reason: isRedirect(status) ? 'REDIRECT_REFUSED' : statusReason(status),
    details: { status, ...(said !== undefined && { upstream: said.details }) },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(refused ? { partialSideEffects: false } : {}),
    ...(response !== undefined &&
      scrubber !== undefined && { cause: causeOf(status, response, scrubber.text) }),
  });
}

function messageOf(status: number, said: string | undefined): string {
  return isRedirect(status)
    ? `The upstream answered with a redirect (HTTP ${status}); redirects are not followed.`
    : `The upstream answered HTTP ${status}${said === undefined ? '.' : `: ${said}`}`;
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

function causeOf(status: number, { body }: HttpResponse, scrub: (text: string) => string): Error {
  const text = scrub(body.subarray(0, SCRUBBED_BYTES).toString('utf8'));
  return new Error(`HTTP ${status}: ${text.slice(0, EXCERPT_LENGTH)}`);
}
