// Where nobody shows a credential, any web page that the operator opens could call the gateway: its requests are refused.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

export interface ForeignRequest {
  readonly reason: 'HOST_DENIED' | 'ORIGIN_DENIED';
  readonly message: string;
}

/**
 * True where nobody can tell which host a request is for: it names several, or none by a path alone but another one in its
 * target. What stands before the gateway may have judged it by the one, and the gateway by the other.
 */
export function namesHostTwice({ rawHeaders, url = '' }: RequestHead): boolean {
  if (!url.startsWith('/') && url !== '*') return true;
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 'host'.length && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}

export type RequestHead = Pick<IncomingMessage, 'rawHeaders' | 'url'>;

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Undefined: it comes from this machine and from no page of another origin. A page elsewhere whose name is made to lead
 * here (DNS rebinding) shows in Host, one that calls from its own origin in Origin or in what browsers say of a fetch.
 */
export function foreignRequest(headers: IncomingHttpHeaders): ForeignRequest | undefined {
  const host = URL.parse(`http://${headers.host ?? ''}`);
  if (host === null || host.username !== '' || !LOOPBACK.test(host.hostname)) {
    return {
      reason: 'HOST_DENIED',
      message:
        'Without credentials (auth.mode: none) the gateway answers to localhost alone: the Host header names another.',
    };
  }
  const site = headers['sec-fetch-site'];
  const isOwn = headers.origin === undefined || isSameOrigin(headers.origin, host);
  if (isOwn && (site === undefined || site === 'same-origin' || site === 'none')) return undefined;
  return {
    reason: 'ORIGIN_DENIED',
    message:
      'Without credentials (auth.mode: none) the gateway takes no requests from pages of another origin.',
  };
}

/**
 * The same of where a request comes from alone: a page of another origin speaks for whoever has it open, with a credential
 * or without one. Undefined: it comes from no page, or from one of this gateway's own.
 */
export function foreignOrigin(headers: IncomingHttpHeaders): string | undefined {
  const { origin } = headers;
  if (origin === undefined) return undefined;
  const host = URL.parse(`http://${headers.host ?? ''}`);
  if (host !== null && isSameOrigin(origin, host)) return undefined;
  return 'Pages of another origin may not speak to this gateway: the Origin header names one.';
}

/**
 * A human comes from elsewhere, by a link or back from a provider: the browser itself opens a page, and no page sees what it
 * holds. A picture, a script, a frame or a fetch of another site's page says so.
 */
export function opensPage(headers: IncomingHttpHeaders): boolean {
  if (headers.origin !== undefined) return false;
  return headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
}

function isSameOrigin(origin: string, host: URL): boolean {
  const url = URL.parse(origin);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return false;
  // Each protocol leaves out a port of its own.
  return url.hostname === host.hostname && portOf(url) === portOf(host, url.protocol);
}

function portOf({ port, protocol }: URL, as = protocol): string {
  return port || (as === 'https:' ? '443' : '80');
}
