// Writes an envelope to HTTP: the status by the one table, the headers it implies, the body in the wire's snake_case.
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { answerAtEndOfTurn } from '../../../lib/timers/end-of-turn.ts';
import { errorRow } from '../../../contract/call/error-row.ts';
import {
  ENVELOPE_VERSION,
  type AwaitedApproval,
  type RateLimitState,
  type ResponseMeta,
  type ToolRefusal,
  type ToolResponse,
} from '../../../contract/call/tool-response.ts';

/** Characters of a body that are given to a socket in one piece. */
const LARGEST_AT_ONCE = 1 << 20;

/**
 * Answers that are ready in one turn of the event loop leave together at its end: under load the reader is woken
 * once for many of them, and a fifth more calls are answered. A call that is alone waits for nothing.
 *
 * Resolves when it is sent. A handler waits for that: for an answer that is not sent yet, Nest would listen to the
 * response until it is, which costs more than to write it. It waits for this alone, and not for the answer before: what waits
 * is taken up again by a processor that has seen a hundred other calls meanwhile.
 */
export function sendEnvelope(reply: FastifyReply, answer: Promise<ToolResponse>): Promise<void> {
  return new Promise((sent, failed) => {
    answer.then((response) => {
      answerAtEndOfTurn(() => {
        try {
          sendNow(reply, response);
          sent();
        } catch (error) {
          failed(error);
        }
      });
    }, failed);
  });
}

function sendNow(reply: FastifyReply, response: ToolResponse): void {
  reply.header('content-type', 'application/json; charset=utf-8');
  callHeaders(reply, response);
  if (response.meta.successor !== undefined) deprecationHeaders(reply, response.meta.successor);
  if (response.meta.acceptedAt !== undefined) acceptedHeaders(reply, response.meta.acceptedAt);
  else if (response.ok) reply.code(200);
  else refusalHeaders(reply, response);
  reply.send(envelopeJson(response));
}

/** Of any answer to a call, whatever its body. */
export function callHeaders(reply: FastifyReply, { rateLimits, meta }: ToolResponse): void {
  if (rateLimits.length > 0) rateLimitHeaders(reply, rateLimits);
  if (meta.replayed) reply.header('idempotency-replayed', 'true');
}

/** Several in one body. */
export function sendEnvelopes(reply: FastifyReply, responses: readonly ToolResponse[]): void {
  sendPieces(reply, [...listed(responses.map(envelopeJson))]);
}

/** JSON text in pieces: written one by one where they are large, since a socket takes a text as a whole. */
export function sendPieces(reply: FastifyReply, pieces: readonly string[]): void {
  reply.code(200).header('content-type', 'application/json; charset=utf-8');
  const length = pieces.reduce((sum, text) => sum + text.length, 0);
  reply.send(length > LARGEST_AT_ONCE ? Readable.from(pieces) : pieces.join(''));
}

function* listed(texts: readonly string[]): Generator<string> {
  yield '{"responses":[';
  for (const [index, text] of texts.entries()) yield index === 0 ? text : `,${text}`;
  yield ']}';
}

/** The envelope as JSON text. `data` was encoded by the core already and is pasted as it is. */
export function envelopeJson(response: ToolResponse): string {
  const meta = JSON.stringify(wireMeta(response.meta));
  if (response.ok) {
    return `{"ok":true,"data":${response.dataJson},"intents":${JSON.stringify(response.intents)},"meta":${meta}}`;
  }
  return `{"ok":false,"error":${JSON.stringify(wireError(response))},"meta":${meta}}`;
}

/** snake_case, as every door that writes JSON sends it. */
export function wireError({ error }: ToolRefusal) {
  return {
    type: error.type,
    message: error.message,
    retryable: error.retryable,
    partial_side_effects: error.partialSideEffects,
    origin: error.origin,
    reason: error.reason,
    retry_after_ms: error.retryAfterMs,
    details: error.details,
  };
}

export function wireMeta(meta: ResponseMeta) {
  return {
    schema_version: ENVELOPE_VERSION,
    call_id: meta.callId,
    tool: meta.tool,
    tool_version: meta.toolVersion,
    executor: meta.executor,
    duration_ms: meta.durationMs,
    attempts: meta.attempts,
    cached: meta.cached,
    replayed: meta.replayed,
    fallback: meta.fallback,
    degraded: meta.degraded,
    registry_version: meta.registryVersion,
    trace_id: meta.traceId,
    dry_run: meta.dryRun,
    recorded: meta.recorded,
    truncated: meta.truncated,
    untrusted: meta.untrusted,
    soft_limit_ms: meta.softLimitMs,
    version_source: meta.versionSource,
    successor: meta.successor,
    provider_call_id: meta.providerCallId,
    ...(meta.acceptedAt !== undefined && wireAccepted(meta.acceptedAt, meta.awaited)),
  };
}

function wireAccepted(callUrl: string, awaited: AwaitedApproval | undefined) {
  if (awaited === undefined) return { status: 'accepted', call_url: callUrl };
  const { id, expiresAt } = awaited;
  return {
    status: 'waiting_approval',
    call_url: callUrl,
    approval_id: id,
    approval_url: `/v1/approvals/${id}`,
    approval_expires_at: expiresAt,
  };
}

/** RFC 7240: the answer comes later, at another place. */
function acceptedHeaders(reply: FastifyReply, callUrl: string): void {
  reply.code(202).header('location', callUrl);
  reply.header('preference-applied', 'respond-async').header('retry-after', '1');
}

function refusalHeaders(reply: FastifyReply, { error }: ToolRefusal): void {
  const { http } = errorRow(error.type, error.origin, error.reason);
  reply.code(http);
  if (error.retryAfterMs !== null)
    reply.header('retry-after', String(Math.max(1, Math.ceil(error.retryAfterMs / 1000))));
  if (http === 401) reply.header('www-authenticate', 'Bearer');
  const approvalUrl = error.type === 'CONFIRMATION_REQUIRED' ? error.details['approval_url'] : undefined;
  if (typeof approvalUrl === 'string') reply.header('location', approvalUrl);
}

/** When the typed actions took the place of `execute(action, details)`, as RFC 9745 writes a date. */
const LEGACY_SINCE = `@${Date.UTC(2026, 0, 1) / 1000}`;

/** RFC 9745, with the successor as a link of RFC 5829. */
function deprecationHeaders(reply: FastifyReply, successor: string): void {
  reply.header('deprecation', LEGACY_SINCE);
  reply.header('link', `</v1/tools/${encodeURIComponent(successor)}/execute>; rel="successor-version"`);
}

/** draft-ietf-httpapi-ratelimit-headers: the policies, and where each stands. */
function rateLimitHeaders(reply: FastifyReply, states: readonly RateLimitState[]): void {
  const policy = states.map(
    ({ name, limit, periodMs }) => `"${name}";q=${limit};w=${Math.ceil(periodMs / 1000)}`,
  );
  const standing = states.map(
    ({ name, remaining, resetMs }) => `"${name}";r=${remaining};t=${Math.ceil(resetMs / 1000)}`,
  );
  reply.header('ratelimit-policy', policy.join(', '));
  reply.header('ratelimit', standing.join(', '));
}
