// Fetches the page that a call's argument names, and reads it: what comes back is text of a bounded length.
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolResult } from '../../contract/call/tool-response.ts';
import { retryAfterMsOf } from '../../lib/upstream-error/retry-after.ts';
import type { Clock } from '../../ports/clock.ts';
import type { HttpResponse } from '../../ports/egress/http-client.ts';
import type { PageOptions } from './options.ts';
import { notText, statusRefused, urlRefused } from './page-failures.ts';
import { readArgumentUrl } from '../../lib/egress/argument-url.ts';
import { kindOfType, mediaTypeOf } from './reader/content-kind.ts';
import type { ReadPage } from './reader/messages.ts';
import type { RobotsRules } from './robots-rules.ts';
import { visit, type Visited, type Visitor } from './site-visit.ts';
import type { ReaderCall, ReaderThreads } from './threads/reader-threads.ts';

export interface FetchNeeds {
  readonly clock: Clock;
  readonly visitor: Visitor;
  readonly readers: ReaderThreads;
  readonly options: PageOptions;
  /** Undefined: no site is asked. */
  readonly robots: RobotsRules | undefined;
  readonly checkHost: (url: URL) => void;
}

const ACCEPT =
  'text/html, application/xhtml+xml, text/plain;q=0.9, application/json;q=0.9, text/*;q=0.8, */*;q=0.1';

/** Throws ToolFailure VALIDATION. */
export function urlOf({ url: said }: JsonObject): URL {
  const read = readArgumentUrl(said);
  if ('message' in read) throw urlRefused(read.message);
  return read.url;
}

/** Rejects with ToolFailure, or with the signal's reason. */
export async function fetchPage(call: ToolCall, needs: FetchNeeds): Promise<ToolResult> {
  const { options, readers, visitor, clock } = needs;
  const first = urlOf(call.arguments);
  const reader = readerCallOf(call);
  const visited = await visit(first, visitor, {
    accept: ACCEPT,
    maxBytes: options.max_bytes,
    maxRedirects: options.max_redirects,
    signal: call.signal,
    onWaiting: (why) => void (call.progress.stalled = why),
    admit: async (url) => {
      needs.checkHost(url);
      await needs.robots?.admit(url, reader);
    },
    refuses: (status, headers) => refusalOf(status, headers, clock.wall()),
  });
  const page = await readPage(visited, call.arguments, { options, readers, reader });
  return { data: answerOf(page, visited, first, offsetOf(call.arguments)) };
}

function readerCallOf(call: ToolCall): ReaderCall {
  const tenant = call.principal?.tenantId ?? '';
  return { tenant, level: call.request.parent?.depth ?? 0, signal: call.signal };
}

function refusalOf(status: number, headers: HttpResponse['headers'], now: number): ToolFailure | undefined {
  if (status < 200 || status >= 300) {
    const after = headers['retry-after'];
    return statusRefused(status, typeof after === 'string' ? retryAfterMsOf(after, now) : undefined);
  }
  const type = contentTypeOf(headers);
  return kindOfType(type) === undefined ? notText(nameOf(type)) : undefined;
}

async function readPage(
  { url, response }: Visited,
  args: JsonObject,
  { options, readers, reader }: Pick<FetchNeeds, 'options' | 'readers'> & { readonly reader: ReaderCall },
): Promise<ReadPage> {
  const { max_characters: wanted, whole_page: whole } = args;
  const answer = await readers.read(
    {
      kind: 'page',
      body: response.body,
      contentType: contentTypeOf(response.headers),
      url: url.href,
      whole: whole === true,
      offset: offsetOf(args),
      maxCharacters: Math.min(numberOr(wanted, options.max_characters), options.max_characters),
    },
    reader,
  );
  if (answer.kind === 'page') return answer;
  throw notText(answer.kind === 'no-text' ? answer.what : 'something else');
}

function answerOf(page: ReadPage, { url, response }: Visited, first: URL, offset: number): JsonObject {
  const { kind: _kind, content, format, totalCharacters, ...facts } = page;
  const end = Math.min(offset, totalCharacters) + content.length;
  return {
    url: url.href,
    ...(url.href !== first.href && { requested_url: first.href }),
    ...facts,
    content_type: mediaTypeOf(contentTypeOf(response.headers)).slice(0, 100),
    format,
    content,
    total_characters: totalCharacters,
    ...(end < totalCharacters && content !== '' && { next_offset: end }),
  };
}

function contentTypeOf({ 'content-type': type }: HttpResponse['headers']): string {
  return typeof type === 'string' ? type.slice(0, 200) : '';
}

function nameOf(type: string): string {
  const media = mediaTypeOf(type);
  if (media === 'application/pdf') return 'a PDF document';
  return /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/.test(media)
    ? `of the type ${media}`
    : 'of an unknown type';
}

function offsetOf({ offset }: JsonObject): number {
  return numberOr(offset, 0);
}

function numberOr(value: JsonValue | undefined, otherwise: number): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : otherwise;
}
