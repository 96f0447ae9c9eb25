// `fetch` over guarded connections, for libraries that bring their own protocol. Redirects, unless the library asks to see them
// (`redirect: 'manual'`), and content codings are refused, the answer is bounded; an event stream, which is read event by event, is not.
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import { ByteList } from '../../lib/bytes/byte-list.ts';
import { failureOf, tooLarge } from './http-failures.ts';

type Fetch = typeof globalThis.fetch;
type Headers = Dispatcher.ResponseData['headers'];

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

export function guardedFetch(dispatcher: () => Dispatcher, maxBytes: number): Fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    // Not the request's own: that one follows this one only as long as nobody collects the request.
    const signal = init?.signal ?? (input instanceof Request ? input.signal : request.signal);
    const body = request.body === null ? null : Buffer.from(await request.arrayBuffer());
    signal.throwIfAborted();
    const { origin, pathname, search } = new URL(request.url);
    const headers = { ...Object.fromEntries(request.headers), 'accept-encoding': 'identity' };
    let answer: Dispatcher.ResponseData;
    try {
      answer = await dispatcher().request({
        origin,
        path: pathname + search,
        method: request.method,
        headers,
        body,
        signal,
      });
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof Error ? failureOf(error, true) : error;
    }
    return responseOf(answer, maxBytes, request.redirect === 'manual');
  };
}

function responseOf(
  { statusCode: status, headers, body }: Dispatcher.ResponseData,
  maxBytes: number,
  showsRedirects: boolean,
): Response {
  const isShown = showsRedirects && REDIRECTS.has(status);
  const problem = isShown ? undefined : problemOf(status, headers, maxBytes);
  if (problem !== undefined || isShown || WITHOUT_BODY.has(status)) {
    body.on('error', () => {}).destroy();
    if (problem !== undefined) throw problem;
    return new Response(null, { status, headers: pairsOf(headers) });
  }
  const content = isEventStream(headers)
    ? body
    : Readable.from(bounded(body, maxBytes, status), { objectMode: false });
  return new Response(Readable.toWeb(content) as ReadableStream<Uint8Array>, {
    status,
    headers: pairsOf(headers),
  });
}

function problemOf(status: number, headers: Headers, maxBytes: number): ToolFailure | undefined {
  if (REDIRECTS.has(status)) {
    return toolFailure(
      'REDIRECT_REFUSED',
      `The upstream answered with a redirect (HTTP ${status}); redirects are not followed.`,
      { details: { status } },
    );
  }
  const coding = String(headers['content-encoding'] ?? 'identity')
    .trim()
    .toLowerCase();
  if (coding !== 'identity') {
    return toolFailure(
      'UNSUPPORTED_ENCODING',
      'The upstream answered with a content coding that was not asked for.',
    );
  }
  const announced = Number(headers['content-length'] ?? 0);
  return announced > maxBytes ? tooLarge(maxBytes, status) : undefined;
}

async function* bounded(body: Readable, maxBytes: number, status: number): AsyncGenerator<Buffer> {
  const bytes = new ByteList();
  for await (const chunk of body as AsyncIterable<Buffer>) {
    if (bytes.length + chunk.length > maxBytes) throw tooLarge(maxBytes, status);
    bytes.push(chunk);
  }
  yield bytes.whole();
}

function isEventStream(headers: Headers): boolean {
  return String(headers['content-type'] ?? '')
    .toLowerCase()
    .startsWith('text/event-stream');
}

function pairsOf(headers: Headers): [name: string, value: string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((item): [string, string] => [name, item]),
  );
}
