// The reasons of the management side that came after the first: figures of calls. Part of the table in reasons.ts.
import { row, type ReasonRow } from './reason-row.ts';

// oxfmt-ignore
export const MANAGEMENT_REASONS = {
  ANALYTICS_BUSY: row('UNAVAILABLE', 'the calls of this time could not be counted soon enough: ask for a shorter one, or later'),
  PLAN_INVALID: row('VALIDATION', 'the plan cannot become a tool: details.violations'),
  PLAN_NOT_APPROVED: row('PERMISSION_DENIED', 'no human was asked about the plan: extensions.approval is off for the tool that proposes'),
  PLAN_OUTDATED: row(['CONFLICT', 'UNAVAILABLE'], 'what a step runs is not what it was when a human approved the plan: propose it again', { sparesUpstream: true }),
  PLANS_FULL: row('BUDGET_EXCEEDED', 'the tenant has all the plans that it may have'),
  PLANS_UNAVAILABLE: row('UNAVAILABLE', 'the tools in force cannot be added to now', { sparesUpstream: true }),
} satisfies Readonly<Record<string, ReasonRow>>;
