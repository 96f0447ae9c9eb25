// The body of a message about an approval: what its approvers are shown, and the same as a mail where the hook sends mails.
import { showingHiddenIn } from '../lib/text/hidden-text.ts';
import type { DueNotice } from '../ports/approvals/approval-notices.ts';
import type { Approval } from '../ports/approvals/approval-store.ts';

/** More of the arguments, or of what they would do, is left to be asked for. */
const MOST_CHARS = 64 * 1024;

const SUBJECTS = { asked: 'Approval needed', expiring: 'Approval expires soon', decided: 'Approval decided' };

export interface MessageTo {
  /** Whom a hook that sends mails writes to. */
  readonly mails: readonly string[];
  /** Links begin with it; undefined: they are paths. */
  readonly publicUrl: string | undefined;
}

/** JSON text; sensitive arguments are masked since they were kept. */
export function approvalMessage({ kind, at, approval }: DueNotice, { mails, publicUrl }: MessageTo): string {
  const url = `${publicUrl?.replace(/\/$/, '') ?? ''}/v1/approvals/${approval.id}`;
  const data = showingHiddenIn({
    ...fieldsOf(approval, url),
    ...(mails.length > 0 && { email: { to: [...mails], ...mailOf(kind, approval, url) } }),
  });
  return JSON.stringify({ type: `approval.${kind}`, timestamp: at.toISOString(), data });
}

function fieldsOf(approval: Approval, url: string) {
  const { arguments: args, would = null, decidedBy = null, comment = null, callId = null } = approval;
  return {
    approval_id: approval.id,
    approval_url: url,
    tenant_id: approval.tenantId,
    status: approval.status,
    tool: approval.tool,
    tool_version: approval.toolVersion,
    risk_level: approval.riskLevel,
    arguments: bounded(args),
    would: bounded(would),
    requested_by: approval.requestedBy,
    agent_id: approval.agentId,
    user_id: approval.userId,
    session_id: approval.sessionId,
    expires_at: new Date(approval.expiresAt).toISOString(),
    quorum: approval.quorum,
    votes: approval.votes.length,
    approver_groups: [...approval.approverGroups],
    call_id: callId,
    decided_by: decidedBy,
    comment,
  };
}

function bounded<Value>(value: Value): Value | null {
  return JSON.stringify(value).length > MOST_CHARS ? null : value;
}

/** Plain text on purpose: nothing that a caller chose can be markup. It holds no arguments: mails are kept and passed on. */
function mailOf(kind: DueNotice['kind'], approval: Approval, url: string) {
  const { tool, status, riskLevel, expiresAt, quorum, votes } = approval;
  const lines = [
    `Tool: ${tool} (risk: ${riskLevel})`,
    `Status: ${status}, approved by ${votes.length} of ${quorum}`,
    `Expires: ${new Date(expiresAt).toISOString()}`,
    `Look at it and decide: ${url}`,
  ];
  return { subject: `${SUBJECTS[kind]}: ${tool}`, text: `${lines.join('\n')}\n` };
}
