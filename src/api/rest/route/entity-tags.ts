// The revisions of what is changed by REST, in their entity tags.
import type { IncomingHttpHeaders } from 'node:http';
import { toolFailure } from '../../../contract/call/failure.ts';
import { invalid } from '../route/violations.ts';

export function etagOf(revision: number): string {
  return `"${revision}"`;
}

/** Which revision a change is meant for; 0: the first one. Undefined: whichever is there. */
export function revisionWanted(headers: IncomingHttpHeaders): number | undefined {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  if (noneMatch !== undefined) {
    if (noneMatch.trim() === '*' && match === undefined) return 0;
    throw invalid('', 'goes with If-None-Match: * for what is to be new, or with If-Match');
  }
  if (match === undefined) return undefined;
  const revision = /^"([1-9]\d{0,8})"$/.exec(match.trim())?.[1];
  if (revision !== undefined) return Number(revision);
  // One that this gateway never gave belongs to no revision.
  throw toolFailure('VERSION_CONFLICT', 'If-Match is no ETag that was given for this: look at it again.');
}
