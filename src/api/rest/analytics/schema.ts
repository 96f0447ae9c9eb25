// Figures of calls on the wire: what they add up to, by tool, agent and day.
import { z } from 'zod';
import { between, filterText } from '../calls/history-query.ts';
import { json, route } from '../route/route.ts';
import { count, flag, list, named, number, shape, text, time } from '../route/shapes.ts';

const MOST = 500;
const FEW = 20;
const TOP = `must be a whole number from 1 to ${MOST}`;

const figures = () => ({
  calls: count(),
  succeeded: count(),
  failed: count('Neither succeeded nor waiting for an approval.'),
  unapproved: count('Answered with CONFIRMATION_REQUIRED: a human was to approve them.'),
  ran: count('Reached the executor. Times and cost are of these alone.'),
  mean_ms: number().nullable(),
  p50_ms: number().nullable(),
  p95_ms: number().nullable(),
  p99_ms: number().nullable(),
  max_ms: number().nullable(),
  cost: number().describe('By `metadata.cost` as the tools declare it now, in your own unit.'),
  last_at: time().nullable().describe('When the last of them came in.'),
});

export const CallFigures = named('CallFigures', () => z.object(figures()));
export const ToolFigures = named('ToolFigures', () => z.object({ tool: text(), ...figures() }));
export const AgentFigures = named('AgentFigures', () =>
  z.object({ agent_id: text('Empty: calls that name no agent.'), ...figures() }),
);
export const DayFigures = named('DayFigures', () => z.object({ day: text('UTC.'), ...figures() }));

export const CallFailures = named('CallFailures', () =>
  z.object({
    tool: text('Empty: what was asked for is no tool.'),
    error_type: text(),
    reason: text(),
    calls: count(),
    last_at: time(),
  }),
);

/** Whose calls were counted, and from when to when. */
export const countedCalls = () => ({
  tenant: text(),
  from: time(),
  to: time(),
  counted_from: time().describe('Later than `from` where `complete` is false.'),
  complete: flag('False: there were more calls than are counted at once; the newest are.'),
});

const Analytics = named('Analytics', () =>
  z.object({
    ...countedCalls(),
    totals: CallFigures(),
    tools: list(ToolFigures()).describe('Those with the most calls first.'),
    agents: list(AgentFigures()).describe('Those with the most calls first.'),
    days: list(DayFigures()).describe('Oldest first.'),
    failures: list(CallFailures()).describe('What fails and why; the most frequent first.'),
    never_called: list(text()).describe(
      'Tools in force that who asks is shown, without one call in what was counted; by name.',
    ),
    never_called_count: count('All of them, also those that `top` leaves out.'),
  }),
);

export const analyticsQuery = shape(() =>
  z.object({
    ...between(),
    tool: filterText('Only calls of this function.'),
    agent_id: filterText('Only calls made for this agent.'),
    tenant: filterText('Whose, for the platform. Left out: the tenant of the credential that asks.'),
    top: z
      .preprocess(
        (said) => (typeof said === 'string' && /^\d{1,6}$/.test(said) ? Number(said) : said),
        z.int(TOP).min(1, TOP).max(MOST, TOP).default(FEW),
      )
      .describe('Most entries of each list.'),
  }),
);

export const getAnalytics = route({
  operationId: 'getAnalytics',
  method: 'get',
  path: '/v1/analytics',
  tag: 'admin',
  summary: 'Calls, failures, latency and cost of a tenant, by tool, agent and day; and what is never called',
  description:
    'Of the audit records of up to 31 days: the last seven where no time is named. Both ends named: from then until then; one: seven days from it, or up to it.',
  query: analyticsQuery,
  answers: { 200: json('What the calls add up to.', Analytics) },
  problems: [400],
});
