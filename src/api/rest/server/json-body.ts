// Takes request bodies in: bounded while they arrive, JSON only, not parsed yet. What is wrong becomes the body's value.
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { toolFailure } from '../../../contract/call/failure.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import { ByteList } from '../../../lib/bytes/byte-list.ts';
import { ArrivingBodies, type ArrivingBody } from '../../../lib/bytes/arriving-bodies.ts';

/** RFC 9512, and what was in use before. A web page cannot send them without asking, either. */
export const YAML_TYPES = ['application/yaml', 'application/x-yaml', 'text/yaml'] as const;
/** Definitions are written in YAML as often as in JSON; calls are not. */
const YAML_ROUTES = '/v1/specs/';
/** Smaller ones take less than their connection does. */
const SMALL_BYTES = 16 * 1024;
const OVERLOADED_RETRY_MS = 1_000;
/** Nobody sends as much by mistake. */
const MOST_BYTES = 256 << 20;

/**
 * After this, `request.body` is a Buffer, or the ToolFailure that says why there is none: call routes hand it
 * to the core, so that even a body that is too large is refused behind auth and leaves an audit record.
 */
export function takeJsonBodies(
  server: FastifyInstance,
  maxBytes: number,
  arriving = ArrivingBodies.forBodiesOf(maxBytes),
): void {
  const room = { maxBytes, arriving };
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(PLAIN_JSON, (request, payload: Readable, done) => {
    collect(payload, room, (body) => done(null, unreadable(request) ?? body));
  });
  server.addContentTypeParser([...YAML_TYPES], (request, payload: Readable, done) => {
    const isTaken = request.url.startsWith(YAML_ROUTES);
    collect(payload, room, (body) => done(null, isTaken ? (unreadable(request) ?? body) : notJson()));
  });
  // Anything but JSON is refused: a web page can post text/plain to loopback without asking, but not JSON.
  server.addContentTypeParser('*', (_request, payload: Readable, done) => {
    collect(payload, room, () => done(null, notJson()));
  });
}

function notJson(): ToolFailure {
  return unsupported('The body must be JSON, sent with content-type application/json.');
}

function unsupported(message: string): ToolFailure {
  return toolFailure('UNSUPPORTED_MEDIA_TYPE', message);
}

const PLAIN_JSON = 'application/json';

/** Bytes are taken for what they are: UTF-8 as it stands. To read them as anything else would be to guess. */
function unreadable({ headers }: FastifyRequest): ToolFailure | undefined {
  if (headers['content-type'] === PLAIN_JSON && headers['content-encoding'] === undefined) return undefined;
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity')
    return unsupported('The body must be sent as it is, without a content-encoding.');
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  return /^utf-?8$/i.test(charset)
    ? undefined
    : unsupported('The body must be text in UTF-8: charset=utf-8.');
}

interface BodyRoom {
  readonly maxBytes: number;
  readonly arriving: ArrivingBodies;
}

/**
 * Reads on past the limit without keeping anything: most clients read no answer before they have sent everything, and who is cut
 * off meanwhile learns nothing.
 * By events, and told by a function: an async iterator over a body of one chunk costs more than everything else the door does.
 */
function collect(
  payload: Readable,
  { maxBytes, arriving }: BodyRoom,
  taken: (body: Buffer | ToolFailure) => void,
): void {
  const kept = new ByteList();
  let bytes = 0;
  let isOver = false;
  const end = (body: () => Buffer | ToolFailure) => {
    if (isOver) return;
    isOver = true;
    arriving.ended(arrived);
    taken(body());
    kept.clear();
  };
  const arrived: ArrivingBody = { bytes: 0, giveUp: () => end(overloaded) };
  payload.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxBytes && !isOver) {
      kept.push(chunk);
      if (bytes > SMALL_BYTES) arriving.keeps(arrived, bytes);
    } else {
      kept.clear();
      arriving.ended(arrived);
    }
    if (bytes > Math.max(2 * maxBytes, MOST_BYTES)) payload.destroy();
  });
  payload.once('end', () => end(() => (bytes > maxBytes ? tooLarge(maxBytes) : kept.whole())));
  // Closed with no end: we stopped reading, or the client went away and reads no answer.
  payload.once('close', () => end(() => (bytes > maxBytes ? tooLarge(maxBytes) : gone())));
  payload.once('error', () => end(gone));
}

function overloaded(): ToolFailure {
  const message =
    'Too much of other requests is on its way to this gateway, and this body did not arrive in time.';
  return toolFailure('OVERLOADED', message, { retryAfterMs: OVERLOADED_RETRY_MS, partialSideEffects: false });
}

/** Nobody reads this answer, and nothing went wrong here: it is counted and audited as what it is. */
function gone(): ToolFailure {
  return toolFailure('CLIENT_GONE', 'The connection was closed before the body had arrived.');
}

function tooLarge(maxBytes: number): ToolFailure {
  return new ToolFailure('PAYLOAD_TOO_LARGE', `The body is larger than the limit of ${maxBytes} bytes.`, {
    details: { limit_bytes: maxBytes },
  });
}
