// Approvals on the wire: what waits for a human, and the decision about it.
import { z } from 'zod';
import { APPROVAL_STATUSES } from '../../../ports/approvals/approval-store.ts';
import { json, route } from '../route/route.ts';
import { afterPosition } from '../calls/history-query.ts';
import { pageShape, paging } from '../route/page.ts';
import {
  count,
  flag,
  strictBody,
  list,
  named,
  object,
  oneOf,
  shape,
  text,
  textOf,
  time,
} from '../route/shapes.ts';

const TAG = 'approvals';
const params = { id: shape(() => z.string().max(256)) };

const ApprovalStatus = named('ApprovalStatus', () => oneOf(APPROVAL_STATUSES));

const Vote = named('ApprovalVote', () =>
  z.object({
    by: text('The credential.'),
    user: text().nullable(),
    for: text('The member of the group whose vote it is, where it was handed to them.').nullable(),
    comment: text().nullable(),
  }),
);

export const Approval = named('Approval', () =>
  z.object({
    id: text(),
    status: ApprovalStatus(),
    tool: text(),
    tool_version: text(),
    arguments: object('Exactly what will run.'),
    risk_level: text(),
    requested_by: text('The credential that made the call.'),
    agent_id: text(),
    user_id: text(),
    session_id: text(),
    created_at: time(),
    expires_at: time(),
    decided_by: text('The credential that decided.').nullable(),
    decided_at: time().nullable(),
    comment: text('What the approver wrote.').nullable(),
    quorum: count('How many people have to approve it. One rejection is enough.'),
    approver_groups: list(text()).describe(
      'Members of any of these may approve it; none: whoever may decide.',
    ),
    votes: list(Vote()).describe('Who has approved it.'),
    would: object(
      'What the call would do, as far as its executor can say so: final command, URL and body, or statement. Secrets and sensitive arguments are masked.',
    ).nullable(),
    call_id: text(
      'The accepted call that waits for it: approved, it runs by itself. null: whoever asked makes the call again.',
    ).nullable(),
  }),
);

const OneApproval = named('OneApproval', () =>
  Approval().extend({
    tool_changed: flag(
      'Something else would run now than when it was asked for: the approval cannot be used any more.',
    ),
  }),
);

const ApprovalList = pageShape('ApprovalList', 'approvals', Approval);

export const Decision = named('Decision', () =>
  strictBody('{"decision": "approve" | "reject"}', {
    decision: oneOf(['approve', 'reject']),
    comment: textOf(0, 2000).optional(),
  }),
);

const ApprovalAsked = named('ScheduleApproval', () =>
  z.object({
    status: z.literal('approval_required'),
    reason: text(),
    message: text(),
    approval_id: text(),
    approval_url: text(),
    expires_at: time(),
    confirmation_token: text().optional(),
  }),
);

/** Of routes whose request is made again with the token, once somebody has approved it. */
export const awaitsApproval = json(
  'A human has to approve it first: say the same again with the token, after the decision.',
  ApprovalAsked,
  ['Location'],
);

export const approvalsQuery = shape(() =>
  z.object({
    status: ApprovalStatus().optional().describe('Only those that stand so.'),
    ...paging(afterPosition),
  }),
);

export const listApprovals = route({
  operationId: 'listApprovals',
  method: 'get',
  path: '/v1/approvals',
  tag: TAG,
  summary: 'List approvals, newest first',
  query: approvalsQuery,
  answers: { 200: json('One page.', ApprovalList) },
  problems: [400],
});

export const followApprovals = route({
  operationId: 'followApprovals',
  method: 'get',
  path: '/v1/approvals/events',
  tag: TAG,
  summary: 'What happens to approvals, from now on or from Last-Event-ID on',
  query: shape(() =>
    z.object({ group: textOf(1, 64).optional().describe('Only those that members of this group may give.') }),
  ),
  headers: shape(() => z.object({ 'Last-Event-ID': eventId() })),
  answers: {
    200: {
      description:
        'Server-sent events: `asked`, `expiring` and `decided` (approved, rejected or cancelled), each with the approval as it ' +
        'stands now. `reconnect`: this replica stops; come again with Last-Event-ID.',
      content: { 'text/event-stream': shape(() => text()) },
    },
  },
  sendsItself: true,
  problems: [400],
});

function eventId() {
  const number = z.int('must be the id of an event').min(0).max(Number.MAX_SAFE_INTEGER);
  const read = (said: unknown) =>
    typeof said !== 'string'
      ? said
      : said === ''
        ? undefined
        : /^\d{1,15}$/.test(said)
          ? Number(said)
          : Number.NaN;
  return z.preprocess(read, number.optional());
}

export const getApproval = route({
  operationId: 'getApproval',
  method: 'get',
  path: '/v1/approvals/{id}',
  tag: TAG,
  summary: 'Read one approval',
  params,
  answers: { 200: json('The approval.', OneApproval) },
  problems: [404],
});

export const decideApproval = route({
  operationId: 'decideApproval',
  method: 'post',
  path: '/v1/approvals/{id}/decision',
  tag: TAG,
  summary: 'Approve or reject a call',
  params,
  body: { shape: Decision, example: { decision: 'approve' } },
  description:
    'An approval that needs several people (`quorum`) stays `pending` until the last of them has approved it. One rejection ends it. Where a call waits for it (`call_id`), the decision has the call run, and the approval is `used` then; or it ends the call.',
  answers: { 200: json('The approval as decided.', Approval) },
  problems: [400, 404, 409],
});
