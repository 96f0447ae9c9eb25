// Takes request bodies in: bounded while they arrive, JSON only, not parsed yet. What is wrong becomes the body's value.
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ToolFailure } from '../../contract/tool-failure.ts';

/** RFC 9512, and what was in use before. A web page cannot send them without asking, either. */
export const YAML_TYPES = ['application/yaml', 'application/x-yaml', 'text/yaml'] as const;
/** Definitions are written in YAML as often as in JSON; calls are not. */
const YAML_ROUTES = '/v1/specs/';

/**
 * After this, `request.body` is a Buffer, or the ToolFailure that says why there is none: call routes hand it
 * to the core, so that even a body that is too large is refused behind auth and leaves an audit record.
 */
export function takeJsonBodies(server: FastifyInstance, maxBytes: number): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', async (_request: FastifyRequest, payload: Readable) =>
    collect(payload, maxBytes),
  );
  server.addContentTypeParser([...YAML_TYPES], async (request: FastifyRequest, payload: Readable) => {
    const body = await collect(payload, maxBytes);
    return request.url.startsWith(YAML_ROUTES) ? body : notJson();
  });
  // Anything but JSON is refused: a web page can post text/plain to loopback without asking, but not JSON.
  server.addContentTypeParser('*', async (_request: FastifyRequest, payload: Readable) => {
    await collect(payload, maxBytes);
    return notJson();
  });
}

function notJson(): ToolFailure {
  return new ToolFailure('VALIDATION', 'The body must be JSON, sent with content-type application/json.', {
    reason: 'UNSUPPORTED_MEDIA_TYPE',
  });
}

/**
 * Reads on past the limit without keeping anything, up to 16 times of it, so that the client can read the answer.
 * By events: an async iterator over a body of one chunk costs more than everything else the door does.
 */
function collect(payload: Readable, maxBytes: number): Promise<Buffer | ToolFailure> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    payload.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
      else chunks.length = 0;
      if (bytes > maxBytes * 16) payload.destroy();
    });
    payload.once('end', () => {
      if (bytes > maxBytes) resolve(tooLarge(maxBytes));
      else resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    });
    // Closed with no end: we stopped reading, or the client went away and reads no answer.
    payload.once('close', () => {
      if (!payload.readableEnded) resolve(tooLarge(maxBytes));
    });
    payload.once('error', reject);
  });
}

function tooLarge(maxBytes: number): ToolFailure {
  return new ToolFailure('PAYLOAD_TOO_LARGE', `The body is larger than the limit of ${maxBytes} bytes.`, {
    details: { limit_bytes: maxBytes },
  });
}
