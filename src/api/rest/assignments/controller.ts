// Assigned versions of tools by REST.
import { Controller, Inject } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { AssignmentControl, AssignmentWho } from '../../../ports/assignments/assignment-control.ts';
import type { AssignmentRecord } from '../../../ports/assignments/assignment-store.ts';
import { ASSIGNMENT_CONTROL } from '../../tokens.ts';
import { Recorded } from '../management/acts.ts';
import { Requires } from '../management/permissions.ts';
import { readPath, type Asked } from '../route/asked.ts';
import { etagOf, revisionWanted } from '../route/entity-tags.ts';
import { tokenOf } from '../route/page.ts';
import { Serves } from '../route/serves.ts';
import { wire } from '../route/wire.ts';
import {
  Assignment,
  deleteAssignment,
  getAssignment,
  listAssignments,
  putAssignment,
  Subject,
} from './schema.ts';

@Controller()
export class AssignmentsController {
  constructor(@Inject(ASSIGNMENT_CONTROL) private readonly assignments: AssignmentControl) {}

  @Serves(listAssignments)
  @Requires('assignments:read')
  async list({ principal, query }: Asked<typeof listAssignments>) {
    const { page_size: limit, page_token: after, tenant, tool } = query;
    const before = after === undefined ? undefined : Number(after);
    const found = await this.assignments.list(principal, { tenant, tool, limit: limit + 1, before });
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1)?.revision : undefined;
    return { assignments: page.map(wireAssignment), next_page_token: tokenOf(last?.toString()) };
  }

  @Serves(getAssignment)
  @Requires('assignments:read')
  async get(asked: Asked<typeof getAssignment>, reply: FastifyReply) {
    return tagged(reply, await this.assignments.get(asked.principal, whoseOf(asked)));
  }

  @Serves(putAssignment)
  @Requires('assignments:write')
  @Recorded('assignments.put')
  async put(asked: Asked<typeof putAssignment>, reply: FastifyReply) {
    const { principal, body, request, affects, noting } = asked;
    const ifRevision = revisionWanted(request.headers);
    const made = await this.assignments.assign(principal, whoseOf(asked), body, ifRevision);
    affects(made.tenantId);
    noting(notesOf(made));
    return tagged(reply, made);
  }

  @Serves(deleteAssignment)
  @Requires('assignments:write')
  @Recorded('assignments.delete')
  async delete(asked: Asked<typeof deleteAssignment>): Promise<undefined> {
    const { principal, request, affects, noting } = asked;
    const ifRevision = revisionWanted(request.headers);
    const gone = await this.assignments.unassign(principal, whoseOf(asked), ifRevision);
    affects(gone.tenantId);
    noting(notesOf(gone));
  }
}

interface OfSubject {
  readonly params: { readonly tool: string; readonly kind: string; readonly subject: string };
  readonly query: { readonly tenant?: string | undefined };
}

/** Throws ToolFailure VALIDATION. */
function whoseOf({ params, query }: OfSubject): AssignmentWho {
  return { tenant: query.tenant, ...readPath(Subject, params) };
}

function tagged(reply: FastifyReply, record: AssignmentRecord) {
  reply.header('etag', etagOf(record.revision));
  return wireAssignment(record);
}

function notesOf({ tenantId: tenant, contentHash, version, reason }: AssignmentRecord) {
  return { tenant, version, content_hash: contentHash, reason };
}

function wireAssignment(record: AssignmentRecord) {
  return wire(Assignment, { ...record, tenant: record.tenantId });
}
