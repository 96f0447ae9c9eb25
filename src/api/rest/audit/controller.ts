// The audit trail by REST: the records of the caller's tenant, newest first; and what is kept of a user, to be erased.
import { Controller, Inject } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { CallHistory } from '../../../ports/calls/call-history.ts';
import { CALL_HISTORY } from '../../tokens.ts';
import { nextPage, pageOfHistory } from '../calls/history-query.ts';
import { Recorded } from '../management/acts.ts';
import { Requires } from '../management/permissions.ts';
import type { Asked } from '../route/asked.ts';
import { encoded } from '../route/route.ts';
import { Serves } from '../route/serves.ts';
import { wire } from '../route/wire.ts';
import { AuditEntry, eraseUser, exportAuditRecords, listAuditRecords } from './schema.ts';

@Controller()
export class AuditController {
  constructor(@Inject(CALL_HISTORY) private readonly history: CallHistory) {}

  @Serves(listAuditRecords)
  @Requires('audit:read')
  async list({ principal, query }: Asked<typeof listAuditRecords>) {
    const { kind, call_id: callId, tool, outcome, principal_id: principalId, from, to } = query;
    const { agent_id: agentId, user_id: userId, session_id: sessionId } = query;
    const filter = { kind, callId, tool, outcome, principalId, agentId, userId, sessionId, from, to };
    const page = { filter, ...pageOfHistory(query) };
    const { rows, next } = await this.history.audit(principal.tenantId, page);
    return { records: rows.map((entry) => wire(AuditEntry, entry)), next_page_token: nextPage(next) };
  }

  @Serves(exportAuditRecords)
  @Requires('audit:read')
  async export({ principal, query }: Asked<typeof exportAuditRecords>, reply: FastifyReply) {
    const { after_seq: after, page_size: limit } = query;
    const lines = await this.history.exportChain(principal.tenantId, after, limit);
    reply.header('content-type', 'application/jsonl; charset=utf-8');
    return encoded(lines.map((line) => `${line}\n`).join(''));
  }

  /** What was erased is recorded with it; this record says who asked, and not for whom. */
  @Serves(eraseUser)
  @Requires('admin')
  @Recorded('audit.erase')
  async erase({ principal, body }: Asked<typeof eraseUser>) {
    const { tenantId, id: by } = principal;
    const { inUse, ...erased } = await this.history.eraseUser({ tenantId, userId: body.user_id, by });
    return { erased, in_use: inUse };
  }
}
