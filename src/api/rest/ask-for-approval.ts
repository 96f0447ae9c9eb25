// What is to be done again with a token once somebody has approved it: 202, and where the approval stands.
import type { FastifyReply } from 'fastify';
import { ToolFailure } from '../../contract/call/tool-failure.ts';

/** Other failures go on. */
export function askedForApproval(reply: FastifyReply, error: unknown): undefined {
  if (!(error instanceof ToolFailure) || error.type !== 'CONFIRMATION_REQUIRED') throw error;
  const { approval_url: url } = error.details;
  if (typeof url === 'string') reply.header('location', url);
  const { reason, message, details } = error;
  reply
    .code(202)
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify({ status: 'approval_required', reason, message, ...details }));
  return undefined;
}
