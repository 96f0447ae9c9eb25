// Definitions and their versions as REST shows them, and the revisions in their entity tags.
import type { IncomingHttpHeaders } from 'node:http';
import { toolFailure } from '../../../contract/call/failure.ts';
import type { SpecOutcome } from '../../../ports/registry/spec-control.ts';
import type { SpecChange, ToolHead, ToolVersion } from '../../../ports/registry/spec-store.ts';
import type { WireOf } from '../route/shapes.ts';
import { invalid } from '../route/violations.ts';
import type { SpecChange as ChangeShape, ToolSpecHead, ToolSpecOutcome, ToolSpecVersion } from './schema.ts';

export function etagOf(revision: number): string {
  return `"${revision}"`;
}

/** Which revision a change is meant for; 0: the first one. Undefined: whichever is there. */
export function revisionWanted(headers: IncomingHttpHeaders): number | undefined {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  if (noneMatch !== undefined) {
    if (noneMatch.trim() === '*' && match === undefined) return 0;
    throw invalid('', 'goes with If-None-Match: * for a tool that is to be new, or with If-Match');
  }
  if (match === undefined) return undefined;
  const revision = /^"([1-9]\d{0,8})"$/.exec(match.trim())?.[1];
  if (revision !== undefined) return Number(revision);
  // One that this gateway never gave belongs to no revision.
  throw toolFailure('VERSION_CONFLICT', 'If-Match is not the ETag of a definition: look at it again.');
}

export function wireHead(head: ToolHead, whole: boolean): WireOf<typeof ToolSpecHead> {
  return {
    name: head.name,
    content_hash: head.contentHash,
    version: head.version,
    enabled: head.enabled,
    revision: head.revision,
    updated_by: head.updatedBy,
    updated_at: head.updatedAt.toISOString(),
    note: head.note,
    ...(whole && { document: head.document }),
  };
}

export function wireVersion(version: ToolVersion): WireOf<typeof ToolSpecVersion> {
  return {
    content_hash: version.contentHash,
    version: version.version,
    source: version.source,
    created_by: version.createdBy,
    created_at: version.createdAt.toISOString(),
    note: version.note,
  };
}

export function wireChange(change: SpecChange): WireOf<typeof ChangeShape> {
  return {
    revision: change.revision,
    action: change.action,
    content_hash: change.contentHash,
    by: change.by,
    at: change.at.toISOString(),
    note: change.note,
  };
}

export function wireOutcome(outcome: SpecOutcome): WireOf<typeof ToolSpecOutcome> {
  return {
    name: outcome.name,
    action: outcome.action,
    content_hash: outcome.contentHash,
    version: outcome.version,
    revision: outcome.revision,
    changed: outcome.changed,
    in_force: outcome.inForce,
    registry_version: outcome.registryVersion,
    problems: outcome.problems,
  };
}
