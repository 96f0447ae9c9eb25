// Reads what is said of a schedule: what to call, when, and what to do about moments that pass or run into each other.
import { isJsonObject, type JsonObject } from '../../contract/json.ts';
import type { ScheduleDraft, ScheduleEdit } from '../../schedules/schedules.ts';
import type { TermsDraft } from '../../schedules/schedule-terms.ts';
import { MISFIRES, OVERLAPS, TASK_TYPES } from '../../ports/calls/schedule-store.ts';
import { invalid } from './read-call.ts';

const TERMS = ['schedule', 'time_zone', 'misfire', 'max_catch_up', 'overlap', 'end_at', 'max_runs'];
const NEW = [...TERMS, 'tool', 'arguments', 'context', 'description', 'task_type'];
const CHANGED = [...TERMS, 'enabled', 'description', 'confirmation_token'];
const MAX_PHRASE = 200;
const MAX_DESCRIPTION = 500;
const MAX_CATCH_UP = 100;
const MAX_RUNS = 1_000_000;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/;

export interface NewScheduleBody {
  readonly tool: string;
  readonly arguments: JsonObject;
  /** As it was said: read like the context of any call. */
  readonly context: unknown;
  readonly draft: ScheduleDraft;
}

/** Throws ToolFailure VALIDATION that names the field; so do the others. */
export function readNewSchedule(parsed: unknown): NewScheduleBody {
  const body = fieldsOf(parsed, NEW);
  const { tool, arguments: args = {}, context } = body;
  if (typeof tool !== 'string' || tool === '') throw invalid('/tool', 'must be the name of a tool');
  if (!isJsonObject(args)) throw invalid('/arguments', 'must be an object');
  const draft = {
    ...readTerms(body),
    phrase: phraseOf(body),
    taskType: wordOf(body, 'task_type', TASK_TYPES) ?? 'tool_call',
    description: textOf(body, 'description', MAX_DESCRIPTION) ?? '',
  };
  return { tool, arguments: args, context, draft };
}

export function readPreview(parsed: unknown): TermsDraft & { readonly phrase: string } {
  const body = fieldsOf(parsed, TERMS);
  return { ...readTerms(body), phrase: phraseOf(body) };
}

export function readEdit(parsed: unknown): ScheduleEdit & { readonly confirmationToken?: string } {
  const body = fieldsOf(parsed, CHANGED);
  const { enabled } = body;
  if (Object.keys(body).length === 0) throw invalid('', `must change something: ${CHANGED.join(', ')}`);
  if (enabled !== undefined && typeof enabled !== 'boolean')
    throw invalid('/enabled', 'must be true or false');
  return {
    ...readTerms(body),
    enabled,
    phrase: body['schedule'] === undefined ? undefined : phraseOf(body),
    description: textOf(body, 'description', MAX_DESCRIPTION),
    confirmationToken: textOf(body, 'confirmation_token', 512),
  };
}

/** `"3"`, as an ETag is written; `*`: whichever there is. */
export function readIfMatch(header: string | undefined): number | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  const version = /^\s*"(\d{1,9})"\s*$/.exec(header)?.[1];
  if (version === undefined)
    throw invalid('', 'header If-Match must be the ETag of the schedule, such as "3"');
  return Number(version);
}

function fieldsOf(parsed: unknown, known: readonly string[]): JsonObject {
  if (!isJsonObject(parsed)) throw invalid('', 'must be an object: {"schedule": "daily 9am", …}');
  const stray = Object.keys(parsed).find((key) => !known.includes(key));
  if (stray !== undefined)
    throw invalid(`/${stray.slice(0, 64)}`, `is no field of it; expected ${known.join(', ')}`);
  return parsed;
}

function phraseOf(body: JsonObject): string {
  const phrase = textOf(body, 'schedule', MAX_PHRASE);
  if (phrase !== undefined && phrase !== '') return phrase;
  throw invalid('/schedule', 'must say when: "in 5 minutes", "weekdays 18:00", "*/15 * * * *"');
}

function readTerms(body: JsonObject): TermsDraft {
  return {
    timeZone: textOf(body, 'time_zone', 64),
    misfire: wordOf(body, 'misfire', MISFIRES),
    maxCatchUp: countOf(body, 'max_catch_up', MAX_CATCH_UP),
    overlap: wordOf(body, 'overlap', OVERLAPS),
    endAt: body['end_at'] === null ? null : instantOf(body, 'end_at'),
    maxRuns: body['max_runs'] === null ? null : countOf(body, 'max_runs', MAX_RUNS),
  };
}

function textOf(body: JsonObject, name: string, max: number): string | undefined {
  const said = body[name];
  if (said === undefined) return undefined;
  if (typeof said !== 'string' || said.length > max)
    throw invalid(`/${name}`, `must be a string of at most ${max} characters`);
  return said;
}

function wordOf<Word extends string>(
  body: JsonObject,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const said = body[name];
  const found = words.find((word) => word === said);
  if (said !== undefined && found === undefined)
    throw invalid(`/${name}`, `must be one of ${words.join(', ')}`);
  return found;
}

function countOf(body: JsonObject, name: string, max: number): number | undefined {
  const said = body[name];
  if (said === undefined) return undefined;
  if (typeof said === 'number' && Number.isInteger(said) && said >= 1 && said <= max) return said;
  throw invalid(`/${name}`, `must be a whole number from 1 to ${max}`);
}

function instantOf(body: JsonObject, name: string): number | undefined {
  const said = body[name];
  if (said === undefined) return undefined;
  const time = typeof said === 'string' && INSTANT.test(said) ? Date.parse(said) : Number.NaN;
  if (Number.isNaN(time)) throw invalid(`/${name}`, 'must be a time such as 2026-12-31T12:00:00Z, or null');
  return time;
}
