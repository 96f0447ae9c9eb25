// Schedules as OpenAPI says them.
import type { JsonObject } from '../../contract/json.ts';
import { MISFIRES, OVERLAPS, TASK_TYPES } from '../../ports/calls/schedule-store.ts';
import {
  answer,
  body,
  headerRef,
  listOf,
  managed,
  orNull,
  parameterRef,
  query,
  record,
  responseRef,
  schemaRef,
  text,
  time,
  words,
} from './openapi-parts.ts';

const anything: JsonObject = { type: 'object', additionalProperties: true };

const terms: JsonObject = {
  schedule: text('"in 5 minutes", "weekdays 18:00", "*/15 * * * *", "2026-12-24 18:00"', {
    minLength: 1,
    maxLength: 200,
  }),
  time_zone: text('That its times are in.', { default: 'UTC', maxLength: 64 }),
  misfire: {
    enum: [...MISFIRES],
    default: 'once',
    description:
      'Moments that passed while no gateway ran: not run, run once, or the last max_catch_up of them.',
  },
  max_catch_up: { type: 'integer', minimum: 1, maximum: 100, default: 10 },
  overlap: {
    enum: [...OVERLAPS],
    default: 'skip',
    description: 'Due while its last run goes on: runs beside it, not at all, or when that has ended.',
  },
  end_at: orNull(time),
  max_runs: orNull({ type: 'integer', minimum: 1, maximum: 1_000_000 }),
};
const TERMS = Object.keys(terms);
const taskType: JsonObject = {
  enum: [...TASK_TYPES],
  default: 'tool_call',
  description: 'A word for lists; it changes nothing.',
};
const description = text('For people.', { maxLength: 500 });

const understood: JsonObject = {
  ...record({ schedule_type: { enum: ['once', 'recurring'] }, time_zone: words, at: time, cron: words }, [
    'at',
    'cron',
  ]),
  description: 'What the gateway takes the phrase for.',
};
const nextRuns: JsonObject = { ...listOf(time), maxItems: 5, description: 'The next five at most.' };

const listed: JsonObject = {
  id: words,
  task_type: taskType,
  description,
  tool: words,
  arguments: { ...orNull(anything), description: 'null: it belongs to another credential.' },
  context: record({ session_id: orNull(words), mode: orNull(words) }),
  ...terms,
  understood,
  enabled: { type: 'boolean' },
  next_run: orNull(time),
  last_run: orNull(time),
  last_status: orNull(
    text('Status of its last run, or why there was none: missed, skipped_overlap, dropped, broken.'),
  ),
  runs: { type: 'integer', minimum: 0 },
  principal_id: text('The credential that it runs for.'),
  agent_id: words,
  user_id: words,
  version: { type: 'integer', minimum: 1 },
  created_at: time,
  updated_at: time,
  finished_at: orNull(time),
};

export const SCHEDULE_SCHEMAS: JsonObject = {
  NewSchedule: record(
    { ...terms, tool: words, arguments: anything, context: anything, description, task_type: taskType },
    [...TERMS.filter((name) => name !== 'schedule'), 'arguments', 'context', 'description', 'task_type'],
  ),
  ScheduleTerms: record(
    terms,
    TERMS.filter((name) => name !== 'schedule'),
  ),
  ScheduleChange: {
    ...record(
      {
        ...terms,
        enabled: { type: 'boolean' },
        description,
        confirmation_token: text('Of an approval of the change.'),
      },
      [...TERMS, 'enabled', 'description', 'confirmation_token'],
    ),
    minProperties: 1,
  },
  SchedulePreview: record({ ...terms, understood, next_runs: nextRuns }),
  ListedSchedule: record(listed),
  Schedule: record({
    ...listed,
    next_runs: nextRuns,
    last_runs: { ...listOf(schemaRef('ScheduledRun')), maxItems: 5 },
  }),
  ScheduledRun: record({
    call_id: words,
    fire_time: time,
    status: schemaRef('CallStatus'),
    error_type: orNull(words),
    reason: orNull(words),
    finished_at: orNull(time),
  }),
  SchedulePage: record({
    schedules: listOf(schemaRef('ListedSchedule')),
    next_page_token: text('Give it as `page_token`; empty on the last page.'),
  }),
  ScheduleApproval: record(
    {
      status: { const: 'approval_required' },
      reason: words,
      message: words,
      approval_id: words,
      approval_url: words,
      expires_at: time,
      confirmation_token: words,
    },
    ['confirmation_token'],
  ),
};

export const SCHEDULE_PARAMETERS: JsonObject = {
  ScheduleId: { name: 'id', in: 'path', required: true, schema: { type: 'string', maxLength: 256 } },
};

const id = parameterRef('ScheduleId');
const ifMatch: JsonObject = {
  name: 'If-Match',
  in: 'header',
  description: 'The ETag of what was looked at: refused with 412 where it has another version by now.',
  schema: words,
};
const operation = (operationId: string, summary: string, parameters: JsonObject[] = []) => ({
  operationId,
  tags: ['schedules'],
  summary,
  parameters,
});
const waiting = answer(
  'The tool is one to approve: say the same again with the token, after the decision.',
  schemaRef('ScheduleApproval'),
  {
    Location: headerRef('Location'),
  },
);
const schedule = answer('The schedule.', schemaRef('Schedule'));

/** What a route answers instead of, or besides, 200. */
function answering(route: JsonObject, answers: JsonObject, without: readonly string[] = []): JsonObject {
  const responses = { ...(route['responses'] as JsonObject), ...answers };
  return {
    ...route,
    responses: Object.fromEntries(Object.entries(responses).filter(([status]) => !without.includes(status))),
  };
}

export const schedulePaths: JsonObject = {
  '/v1/schedules': {
    get: managed(
      operation('listSchedules', 'List schedules: own ones, and with calls:read all of the tenant', [
        parameterRef('PageSize'),
        query('page_token', 'The `next_page_token` of the page before.', words),
      ]),
      answer('One page, newest first.', schemaRef('SchedulePage')),
      ['BadRequest'],
    ),
    post: answering(
      managed(
        {
          ...operation('createSchedule', 'Have a tool called later, or again and again', [
            parameterRef('IdempotencyKey'),
          ]),
          requestBody: body(schemaRef('NewSchedule'), {
            schedule: 'weekdays 18:00',
            time_zone: 'Europe/Berlin',
            tool: 'daily_report',
            arguments: { top: 5 },
          }),
        },
        schedule,
        ['BadRequest', 'NotFound'],
      ),
      { '201': answer('Made.', schemaRef('Schedule'), { Location: headerRef('Location') }), '202': waiting },
      ['200'],
    ),
  },
  '/v1/schedules/preview': {
    post: managed(
      {
        ...operation('previewSchedule', 'What a phrase means, and the next five moments'),
        requestBody: body(schemaRef('ScheduleTerms'), {
          schedule: 'daily 02:30',
          time_zone: 'Europe/Berlin',
        }),
      },
      answer('As it would be.', schemaRef('SchedulePreview')),
      ['BadRequest'],
    ),
  },
  '/v1/schedules/{id}': {
    get: managed(
      operation('getSchedule', 'One schedule, its next moments and its last runs', [id]),
      schedule,
      ['NotFound'],
    ),
    patch: answering(
      managed(
        {
          ...operation('changeSchedule', 'Stop it, let it go on, or change when it runs', [
            id,
            ifMatch,
            parameterRef('IdempotencyKey'),
          ]),
          requestBody: body(schemaRef('ScheduleChange'), { enabled: false }),
        },
        schedule,
        ['BadRequest', 'NotFound', 'Conflict'],
      ),
      { '202': waiting, '412': responseRef('Problem') },
    ),
    delete: answering(
      managed(
        operation('deleteSchedule', 'Delete it; calls made of it already go on', [id, ifMatch]),
        schedule,
        ['NotFound'],
      ),
      { '204': { description: 'Gone.' }, '412': responseRef('Problem') },
      ['200'],
    ),
  },
};
