// Delegations of votes on the wire: who votes for whom about approvals, and until when.
import { z } from 'zod';
import { json, route } from '../route/route.ts';
import { list, moment, named, shape, strictBody, text, textOf, time } from '../route/shapes.ts';

const TAG = 'approvals';
const params = { id: shape(() => z.string().max(256)) };
const WHEN = 'must be a time such as 2027-01-31T00:00:00Z';

export const Delegation = named('VoteDelegation', () =>
  z.object({
    id: text(),
    from_user: text('The member of the groups whose vote it is.'),
    to_user: text('The person who votes instead: with a key of their own that holds approvals:decide.'),
    approver_groups: list(text()),
    starts_at: time(),
    ends_at: time(),
    created_by: text('The credential.'),
    created_at: time(),
  }),
);

const NewDelegation = named('NewVoteDelegation', () =>
  strictBody('{"to": "bob", "until": "2027-01-31T00:00:00Z"}', {
    to: textOf(1, 200).describe('The user of the keys of whoever votes instead.'),
    groups: z
      .array(textOf(1, 64))
      .min(1)
      .max(20)
      .optional()
      .describe('Groups that the key is in itself; left out: all of them.'),
    from: moment(WHEN).optional().describe('Left out: from now on.'),
    until: moment(WHEN).describe('Within 92 days.'),
  }),
);

export const createDelegation = route({
  operationId: 'delegateVote',
  method: 'post',
  path: '/v1/approvals/delegations',
  tag: TAG,
  summary: 'Hand one\u2019s vote in groups of approvers to another person for a while',
  body: { shape: NewDelegation, example: { to: 'bob', until: '2027-01-31T00:00:00Z' } },
  answers: { 201: json('The delegation.', Delegation) },
  problems: [400],
});

export const listDelegations = route({
  operationId: 'listVoteDelegations',
  method: 'get',
  path: '/v1/approvals/delegations',
  tag: TAG,
  summary: 'List delegations that have neither ended nor been revoked, newest first',
  answers: {
    200: json(
      'The delegations.',
      named('VoteDelegationList', () => z.object({ delegations: list(Delegation()) })),
    ),
  },
  problems: [],
});

export const revokeDelegation = route({
  operationId: 'revokeVoteDelegation',
  method: 'delete',
  path: '/v1/approvals/delegations/{id}',
  tag: TAG,
  summary: 'Take a vote back: by whoever handed it on, or an admin',
  params,
  answers: { 204: { description: 'Revoked. What was decided stays.' } },
  problems: [404],
});
