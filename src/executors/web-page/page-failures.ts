// How fetching a page fails, for whoever asked for it.
import { statusReason } from '../../contract/call/reasons/status-reason.ts';
import { typeOfStatus } from '../../contract/call/reasons/status-type.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';

const nothingChanged = { partialSideEffects: false };

export function urlRefused(message: string): ToolFailure {
  return toolFailure('UNSAFE_ARGUMENT', `url: ${message}.`, {
    ...nothingChanged,
    details: { violations: [{ pointer: '/url', message }] },
  });
}

export function hostRefused(host: string): ToolFailure {
  return toolFailure('EGRESS_DENIED', 'The egress policy does not let pages be fetched from this host.', {
    ...nothingChanged,
    origin: 'gateway',
    cause: new Error(`${host}: see allow_hosts and deny_hosts of executors.web-page.`),
  });
}

export function notText(what: string): ToolFailure {
  return toolFailure('PAGE_NOT_TEXT', `This is ${what}, and only pages and other text can be read.`, {
    ...nothingChanged,
    origin: 'tool',
    details: { found: what },
  });
}

export function statusRefused(status: number, retryAfterMs: number | undefined): ToolFailure {
  return new ToolFailure(typeOfStatus(status), `The site answered HTTP ${status}.`, {
    ...nothingChanged,
    origin: 'tool',
    reason: statusReason(status),
    details: { status },
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

export function redirectRefused(message: string): ToolFailure {
  return toolFailure('REDIRECT_REFUSED', message, { ...nothingChanged, origin: 'tool' });
}

export function robotsDenied(host: string): ToolFailure {
  return toolFailure('ROBOTS_DENIED', `The robots.txt of ${host} does not allow this page to be fetched.`, {
    ...nothingChanged,
    origin: 'tool',
  });
}

export function robotsUnreadable(host: string, cause: unknown): ToolFailure {
  const message = `Whether ${host} allows this page to be fetched could not be found out: its robots.txt cannot be read.`;
  return toolFailure('ROBOTS_UNREADABLE', message, { ...nothingChanged, origin: 'tool', cause });
}

export function tooComplex(cause: unknown): ToolFailure {
  const message = 'The page takes more time or memory to be read than a page may.';
  return toolFailure('PAGE_TOO_COMPLEX', message, { ...nothingChanged, origin: 'tool', cause });
}
