// SiteVisit: requests of one call to strangers' servers. Each hop is checked and guarded anew; of what is no answer only the head
// is read.
import type { HttpClient, HttpResponse } from '../../ports/egress/http-client.ts';
import type { EgressPolicy } from '../../ports/egress/http-client.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import { redirectRefused } from './page-failures.ts';
import { readArgumentUrl } from '../../lib/egress/argument-url.ts';

export interface Visitor {
  readonly http: HttpClient;
  readonly egress: EgressPolicy;
  readonly userAgent: string;
}

export interface Visit {
  readonly accept: string;
  readonly maxBytes: number;
  readonly maxRedirects: number;
  readonly signal: AbortSignal;
  readonly onWaiting?: (why: () => ToolFailure | undefined) => void;
  /** Before each request. Throws, or rejects with, ToolFailure. */
  readonly admit: (url: URL) => Promise<void> | void;
  /** Of an answer that is no redirect: throws away the rest of it. */
  readonly refuses: (status: number, headers: HttpResponse['headers']) => Error | undefined;
}

export interface Visited {
  /** After redirects. */
  readonly url: URL;
  readonly response: HttpResponse;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The head of an answer that leads elsewhere: its body may be without an end. */
class Redirected extends Error {
  constructor(readonly location: string) {
    super('redirected');
  }
}

/** Rejects with ToolFailure, what `refuses` gives, or the signal's reason. */
export async function visit(first: URL, visitor: Visitor, how: Visit): Promise<Visited> {
  let url = first;
  for (let hops = 0; ; hops += 1) {
    await how.admit(url);
    const next = await hop(url, visitor, how);
    if (!(next instanceof Redirected)) return { url, response: next };
    if (hops >= how.maxRedirects)
      throw redirectRefused(
        `The site answers with more redirects than the ${how.maxRedirects} that are followed.`,
      );
    const target = readArgumentUrl(next.location, url);
    if ('message' in target)
      throw redirectRefused(`The site redirects to something that is not fetched: ${target.message}.`);
    url = target.url;
  }
}

async function hop(
  url: URL,
  { http, egress, userAgent }: Visitor,
  { accept, maxBytes, signal, refuses, onWaiting }: Visit,
): Promise<HttpResponse | Redirected> {
  try {
    return await http.request({
      method: 'GET',
      origin: url.origin,
      path: url.pathname + url.search,
      // No cookies, no credentials, no referrer: nothing of one site reaches another.
      headers: { 'user-agent': userAgent, accept },
      egress,
      maxResponseBytes: maxBytes,
      signal,
      ...(onWaiting !== undefined && { onWaiting }),
      refuses: (status, headers) => {
        const { location } = headers;
        if (REDIRECTS.has(status) && typeof location === 'string') return new Redirected(location);
        return refuses(status, headers);
      },
    });
  } catch (error) {
    if (error instanceof Redirected) return error;
    throw error;
  }
}
