// Sessions on the wire: conversations that are declared, with what is used of their budgets.
import { z } from 'zod';
import { INTERACTION_MODES } from '../../../contract/tool/tool-spec.ts';
import { CallSummary } from '../calls/schema.ts';
import { afterPosition, filterText } from '../calls/history-query.ts';
import { pageShape, paging } from '../route/page.ts';
import { json, route } from '../route/route.ts';
import {
  count,
  list,
  named,
  number,
  oneOf,
  shape,
  strictBody,
  switchedOn,
  text,
  textOf,
  time,
  type ValueOf,
} from '../route/shapes.ts';

const TAG = 'sessions';
const LONGEST = 512;

const params = { id: shape(() => z.string().max(256)) };
const who = (description: string) => textOf(1, LONGEST).optional().describe(description);

export const NewSession = named('NewSession', () =>
  strictBody('{"agent_id": "front-desk", "user_id": "ann", "mode": "voice"}', {
    agent_id: who('For whom its calls are made; the credential must be allowed to speak for it.'),
    user_id: who('The user of its calls.'),
    tenant_id: who('Must be the tenant of the credential.'),
    mode: oneOf(INTERACTION_MODES)
      .optional()
      .describe('In which all of its calls are made. Left out: calls say it.'),
  }),
);

const Budget = named('SessionBudget', () =>
  z.object({
    name: text('`turn_retrievals`, `session_cost`, `user_calls` …'),
    limit: number(),
    used: number().nullable().describe('null: nobody can tell now, since Redis is away.'),
    free_at: time()
      .nullable()
      .describe('The end of the day. null: free again with the next turn, or session.'),
  }),
);

const fields = () => ({
  id: text('To be said as context.session_id.'),
  state: oneOf(['active', 'ended', 'expired']),
  tenant_id: text(),
  agent_id: text().nullable(),
  user_id: text().nullable(),
  mode: oneOf(INTERACTION_MODES).nullable(),
  turn_id: text('The last turn that was begun: what a call without context.turn_id belongs to.'),
  turns: count(),
  registry_version: text('The set of tools that its calls are made in.'),
  created_at: time(),
  created_by: text('Id of the credential that declared it.'),
  last_used_at: time(),
  over_at: time().describe('When it is over unless it is used before, or since when.'),
  expires_at: time().describe('When it is over, however much it is used.'),
  ended_at: time().nullable(),
  ended_by: text().nullable(),
});

export const Session = named('Session', () =>
  z.object({
    ...fields(),
    budgets: list(Budget()).describe('Those that gateway.yaml has for calls of its turn.'),
  }),
);
export const ListedSession = named('ListedSession', () => z.object(fields()));

/** For a backend that serves many users with one credential: the gateway compares. */
export const sessionOf = shape(() => {
  const field = () => filterText('Only where the session is for it; 404 otherwise.');
  return z.object({ agent_id: field(), user_id: field() });
});
export type SaidOf = ValueOf<typeof sessionOf>;

export const createSession = route({
  operationId: 'createSession',
  method: 'post',
  path: '/v1/sessions',
  tag: TAG,
  summary: 'Declare a session: for whom, and in which mode',
  description: 'The tools in force now are those of the session for its life. A kill switch overrides that.',
  body: {
    shape: NewSession,
    example: { agent_id: 'front-desk', user_id: 'ann', mode: 'voice' },
    required: false,
  },
  answers: { 201: json('Declared.', Session, ['Location']) },
  problems: [400],
});

export const listQuery = shape(() =>
  z.object({
    agent_id: filterText('Only sessions for this agent.'),
    user_id: filterText('Only sessions for this user.'),
    active: switchedOn('Only sessions that are not over.'),
    ...paging(/^ses_[0-9a-f-]{36}$/),
  }),
);

export const listSessions = route({
  operationId: 'listSessions',
  method: 'get',
  path: '/v1/sessions',
  tag: TAG,
  summary: 'List sessions, newest first: those of the credential; with sessions:read, of the tenant',
  query: listQuery,
  answers: { 200: json('One page.', pageShape('SessionPage', 'sessions', ListedSession)) },
  problems: [400],
});

export const getSession = route({
  operationId: 'getSession',
  method: 'get',
  path: '/v1/sessions/{id}',
  tag: TAG,
  summary: 'One session, with what is used of its budgets',
  params,
  query: sessionOf,
  answers: { 200: json('The session.', Session) },
  problems: [404],
});

export const beginTurn = route({
  operationId: 'beginTurn',
  method: 'post',
  path: '/v1/sessions/{id}/turns',
  tag: TAG,
  summary: 'Begin the next turn of a session',
  params,
  query: sessionOf,
  answers: { 201: json('The session, in its new turn.', Session) },
  problems: [404, 409],
});

export const endSession = route({
  operationId: 'endSession',
  method: 'delete',
  path: '/v1/sessions/{id}',
  tag: TAG,
  summary: 'End a session: on this gateway at once, on every other replica within five seconds',
  params,
  query: sessionOf,
  answers: { 200: json('The session as it ended.', Session) },
  problems: [404],
});

export const historyQuery = shape(() => {
  const field = () => filterText('Only where the session is for it; 404 otherwise.');
  return z.object({ agent_id: field(), user_id: field(), ...paging(afterPosition) });
});

export const listSessionCalls = route({
  operationId: 'listSessionCalls',
  method: 'get',
  path: '/v1/sessions/{id}/calls',
  tag: TAG,
  summary: 'The calls of a session, newest first',
  params,
  query: historyQuery,
  answers: { 200: json('One page.', pageShape('SessionCallPage', 'calls', CallSummary)) },
  problems: [400, 404],
});
