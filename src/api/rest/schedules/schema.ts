// Schedules on the wire: what to call, when, and what to do about moments that pass or run into each other.
import { z } from 'zod';
import { MISFIRES, OVERLAPS, TASK_TYPES } from '../../../ports/calls/schedule-store.ts';
import { awaitsApproval } from '../approvals/schema.ts';
import { CallStatus } from '../calls/schema.ts';
import { pageShape, paging } from '../route/page.ts';
import { json, route } from '../route/route.ts';
import {
  count,
  flag,
  moment,
  named,
  object,
  oneOf,
  shape,
  strictBody,
  text,
  textOf,
  time,
  wholeNumber,
  type ValueOf,
} from '../route/shapes.ts';
import { IdempotencyKey } from '../execute/headers.ts';
import { Callback } from '../execute/schema.ts';

const TAG = 'schedules';
const SHOWN = 5;
const params = { id: shape(() => z.string().max(256)) };

const phrase = () =>
  z
    .string('must say when: "in 5 minutes", "weekdays 18:00", "*/15 * * * *"')
    .min(1)
    .max(200)
    .describe('"in 5 minutes", "weekdays 18:00", "*/15 * * * *", "2026-12-24 18:00"');
const TIME_ZONE = 'That its times are in.';
const MISFIRE =
  'Moments that passed while no gateway ran: not run, run once, or the last max_catch_up of them.';
const OVERLAP = 'Due while its last run goes on: runs beside it, not at all, or when that has ended.';
const taskType = () => oneOf(TASK_TYPES).describe('A word for lists; it changes nothing.');
const description = () => textOf(0, 500).describe('For people.');

/** As they are said: what is left out has a default, shown to readers alone. */
const saidTerms = () => ({
  time_zone: textOf(0, 64).optional().describe(TIME_ZONE).meta({ default: 'UTC' }),
  misfire: oneOf(MISFIRES).optional().describe(MISFIRE).meta({ default: 'once' }),
  max_catch_up: wholeNumber(1, 100).optional().meta({ default: 10 }),
  overlap: oneOf(OVERLAPS).optional().describe(OVERLAP).meta({ default: 'skip' }),
  end_at: moment('must be a time such as 2026-12-31T12:00:00Z, or null').nullable().optional(),
  max_runs: wholeNumber(1, 1_000_000).nullable().optional(),
});

const LIKE = '{"schedule": "daily 9am", …}';

const NewSchedule = named('NewSchedule', () =>
  strictBody(LIKE, {
    schedule: phrase(),
    ...saidTerms(),
    tool: z.string('must be the name of a tool').min(1),
    arguments: object().optional(),
    context: z.unknown().optional().meta({ type: 'object', additionalProperties: true }),
    description: description().optional(),
    task_type: taskType().optional().meta({ default: 'tool_call' }),
    callback: Callback().optional(),
  }),
);

const SaidTerms = named('ScheduleTerms', () => strictBody(LIKE, { schedule: phrase(), ...saidTerms() }));
export type SaidTerms = Partial<ValueOf<typeof SaidTerms>>;

const ScheduleChange = named('ScheduleChange', () => {
  const fields = {
    schedule: phrase().optional(),
    ...saidTerms(),
    enabled: flag().optional(),
    description: description().optional(),
    confirmation_token: textOf(0, 512).optional().describe('Of an approval of the change.'),
  };
  return strictBody(LIKE, fields)
    .refine(
      (said) => Object.keys(said).length > 0,
      `must change something: ${Object.keys(fields).join(', ')}`,
    )
    .meta({ minProperties: 1 });
});

/** As they are kept. */
const terms = () => ({
  schedule: text(),
  time_zone: text(TIME_ZONE),
  misfire: oneOf(MISFIRES).describe(MISFIRE),
  max_catch_up: wholeNumber(1, 100),
  overlap: oneOf(OVERLAPS).describe(OVERLAP),
  end_at: time().nullable(),
  max_runs: wholeNumber(1, 1_000_000).nullable(),
  understood: z
    .object({
      schedule_type: oneOf(['once', 'recurring']),
      time_zone: text(),
      at: time().optional(),
      cron: text().optional(),
    })
    .describe('What the gateway takes the phrase for.'),
});

const nextRuns = () => z.array(time()).max(SHOWN).readonly().describe('The next five at most.');

const listed = () => ({
  id: text(),
  task_type: taskType(),
  description: description(),
  tool: text(),
  arguments: object().nullable().describe('null: it belongs to another credential.'),
  context: z.object({ session_id: text().nullable(), mode: text().nullable() }),
  callback_url: text(
    'Who is told of the end of each run; null: nobody, or it belongs to another credential.',
  ).nullable(),
  ...terms(),
  enabled: flag(),
  next_run: time().nullable(),
  last_run: time().nullable(),
  last_status: text(
    'Status of its last run, or why there was none: missed, skipped_overlap, dropped, broken.',
  ).nullable(),
  runs: count(),
  principal_id: text('The credential that it runs for.'),
  agent_id: text(),
  user_id: text(),
  version: z.int().min(1),
  created_at: time(),
  updated_at: time(),
  finished_at: time().nullable(),
});

export const ScheduledRun = named('ScheduledRun', () =>
  z.object({
    call_id: text(),
    fire_time: time(),
    status: CallStatus(),
    error_type: text().nullable(),
    reason: text().nullable(),
    finished_at: time().nullable(),
  }),
);

export const SchedulePreview = named('SchedulePreview', () =>
  z.object({ ...terms(), next_runs: nextRuns() }),
);
export const ListedSchedule = named('ListedSchedule', () => z.object(listed()));
export const Schedule = named('Schedule', () =>
  z.object({
    ...listed(),
    next_runs: nextRuns(),
    last_runs: z.array(ScheduledRun()).max(SHOWN).readonly(),
  }),
);

/** `"3"`, as an ETag is written; `*`: whichever there is. */
const ifMatch = () =>
  z
    .string()
    .transform((said, context) => {
      if (said.trim() === '*') return undefined;
      const version = /^\s*"(\d{1,9})"\s*$/.exec(said)?.[1];
      if (version !== undefined) return Number(version);
      context.addIssue('must be the ETag of the schedule, such as "3"');
      return z.NEVER;
    })
    .optional()
    .describe('The ETag of what was looked at: refused with 412 where it has another version by now.')
    .meta({ pattern: '^(\\*|"[0-9]{1,9}")$' });

export const listSchedules = route({
  operationId: 'listSchedules',
  method: 'get',
  path: '/v1/schedules',
  tag: TAG,
  summary: 'List schedules: own ones, and with calls:read all of the tenant',
  query: shape(() => z.object(paging(/^[0-9a-f-]{36}$/))),
  answers: { 200: json('One page, newest first.', pageShape('SchedulePage', 'schedules', ListedSchedule)) },
  problems: [400],
});

export const createSchedule = route({
  operationId: 'createSchedule',
  method: 'post',
  path: '/v1/schedules',
  tag: TAG,
  summary: 'Have a tool called later, or again and again',
  headers: shape(() => z.object({ 'Idempotency-Key': IdempotencyKey() })),
  body: {
    shape: NewSchedule,
    example: {
      schedule: 'weekdays 18:00',
      time_zone: 'Europe/Berlin',
      tool: 'daily_report',
      arguments: { top: 5 },
    },
  },
  answers: { 201: json('Made.', Schedule, ['Location', 'ETag']), 202: awaitsApproval },
  problems: [400, 404],
});

export const previewSchedule = route({
  operationId: 'previewSchedule',
  method: 'post',
  path: '/v1/schedules/preview',
  tag: TAG,
  summary: 'What a phrase means, and the next five moments',
  body: { shape: SaidTerms, example: { schedule: 'daily 02:30', time_zone: 'Europe/Berlin' } },
  answers: { 200: json('As it would be.', SchedulePreview) },
  problems: [400],
});

export const getSchedule = route({
  operationId: 'getSchedule',
  method: 'get',
  path: '/v1/schedules/{id}',
  tag: TAG,
  summary: 'One schedule, its next moments and its last runs',
  params,
  answers: { 200: json('The schedule.', Schedule, ['ETag']) },
  problems: [404],
});

export const changeSchedule = route({
  operationId: 'changeSchedule',
  method: 'patch',
  path: '/v1/schedules/{id}',
  tag: TAG,
  summary: 'Stop it, let it go on, or change when it runs',
  params,
  headers: shape(() => z.object({ 'If-Match': ifMatch(), 'Idempotency-Key': IdempotencyKey() })),
  body: { shape: ScheduleChange, example: { enabled: false } },
  answers: { 200: json('The schedule.', Schedule, ['ETag']), 202: awaitsApproval },
  problems: [400, 404, 409, 412],
});

export const deleteSchedule = route({
  operationId: 'deleteSchedule',
  method: 'delete',
  path: '/v1/schedules/{id}',
  tag: TAG,
  summary: 'Delete it; calls made of it already go on',
  params,
  headers: shape(() => z.object({ 'If-Match': ifMatch() })),
  answers: { 204: { description: 'Gone.' } },
  problems: [404, 412],
});
