// What a caller does with the tasks that it has: list them, see how they went, have them at another time, end them.
import type { JsonObject } from '../../contract/json.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolResult } from '../../contract/call/tool-response.ts';
import { inItsWords, wrongArgument } from './argument-failure.ts';
import type { SchedulesNeeds } from './create-task.ts';
import type { SchedulesOptions } from './options-schema.ts';
import { countIn, textIn, zoneOf } from './task-arguments.ts';
import { runViewOf, viewOf } from './task-view.ts';

const MAX_LISTED = 20;
const MAX_RUNS = 10;
const DEFAULT_RUNS = 5;

export async function listTasks(
  call: ToolCall,
  { when, runner }: SchedulesOptions,
  { callerSchedules }: SchedulesNeeds,
): Promise<ToolResult> {
  const limit = countIn(call.arguments, 'limit', MAX_LISTED);
  const { before } = call.arguments;
  const page = { limit: limit + 1, ...(typeof before === 'string' && { before }) };
  const found = await inItsWords({ when }, () => callerSchedules.list(call, page));
  const tasks = found.slice(0, limit).map((own) => viewOf(own, runner));
  const next = found.length > limit ? (tasks.at(-1)?.['id'] ?? null) : null;
  return { data: { tasks, next_before: next } };
}

export async function deleteTask(
  call: ToolCall,
  { when }: SchedulesOptions,
  { callerSchedules }: SchedulesNeeds,
): Promise<ToolResult> {
  const id = textIn(call.arguments, 'task_id');
  await inItsWords({ when }, () => callerSchedules.delete(call, id));
  return { data: { success: true, task_id: id, cancelled: true } };
}

export async function changeTask(
  call: ToolCall,
  { when, runner, kind }: SchedulesOptions,
  { callerSchedules, settings }: SchedulesNeeds,
): Promise<ToolResult> {
  const { arguments: args } = call;
  const id = textIn(args, 'task_id');
  const phrase = args[when];
  const { enabled } = args;
  const edit = {
    // The zone of a schedule that goes on as it was is not the agent's to change by the way.
    ...(typeof phrase === 'string' && { phrase: textIn(args, when), ...zoneOf(call) }),
    ...(typeof enabled === 'boolean' && { enabled }),
  };
  if (Object.keys(edit).length === 0)
    throw wrongArgument(`/${when}`, 'or /enabled must say what is to change');
  const { maxPerUser: maxPerOwner, minIntervalMs } = settings;
  const bounds = { ...(kind !== undefined && { kind }), maxPerOwner, minIntervalMs };
  const changed = await inItsWords({ when }, () => callerSchedules.change(call, id, edit, bounds));
  const { id: _id, ...view } = viewOf(changed, runner);
  return { data: { success: true, task_id: id, trigger_at: view['next_run'] ?? null, ...view } };
}

export async function resultsOf(
  call: ToolCall,
  { when }: SchedulesOptions,
  { callerSchedules }: SchedulesNeeds,
): Promise<ToolResult> {
  const { arguments: args } = call;
  const id = textIn(args, 'task_id');
  const limit = args['limit'] === undefined ? DEFAULT_RUNS : countIn(args, 'limit', MAX_RUNS);
  const runs = await inItsWords({ when }, () => callerSchedules.runs(call, id, limit));
  const results: JsonObject[] = runs.map(runViewOf);
  return { data: { task_id: id, results } };
}
