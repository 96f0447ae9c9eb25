// Makes a task: what the arguments say, as a schedule of the caller's own. What it runs is there and allowed now, or it is refused.
import { isJsonObject, type JsonObject } from '../../contract/json.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolResult } from '../../contract/call/tool-response.ts';
import type { CallerSchedules, OwnDraft } from '../../ports/calls/caller-schedules.ts';
import { inItsWords, wrongArgument } from './argument-failure.ts';
import type { SchedulesOptions } from './options-schema.ts';
import type { SchedulesSettings } from './settings.ts';
import { isTaskType, mailOf, stepOf, type Task, type TaskStep } from './task-steps.ts';
import { textIn, zoneOf } from './task-arguments.ts';
import { viewOf } from './task-view.ts';

/** A task is read at each of its runs, and whenever tasks are listed. */
const MAX_DATA_BYTES = 8 * 1024;
/** For lists. */
const MAX_DESCRIPTION = 500;

export interface SchedulesNeeds {
  readonly callerSchedules: CallerSchedules;
  readonly settings: SchedulesSettings;
}

export async function createTask(
  call: ToolCall,
  options: SchedulesOptions,
  { callerSchedules, settings }: SchedulesNeeds,
): Promise<ToolResult> {
  const task = taskOf(call, options);
  const { when, kind, runner } = options;
  const { maxPerUser: maxPerOwner, minIntervalMs } = settings;
  const bounds = { ...(kind !== undefined && { kind }), maxPerOwner, minIntervalMs };
  const draft: OwnDraft = {
    phrase: textIn(call.arguments, when),
    ...zoneOf(call),
    taskType: task.type,
    description: task.text.slice(0, MAX_DESCRIPTION).toWellFormed(),
    ...(await whatRuns(task, call, options, { callerSchedules, settings })),
    ...toldAt(call, settings),
  };
  const made = await inItsWords({ when, tool: draft.tool }, () =>
    callerSchedules.create(call, draft, bounds),
  );
  const { id, ...view } = viewOf(made, runner);
  const isReminder = task.type === 'reminder' && made.schedule.terms.when.kind === 'once';
  const ids = { task_id: id ?? null, ...(isReminder && { reminder_id: id ?? null }) };
  return { data: { success: true, ...ids, trigger_at: view['next_run'] ?? null, ...view } };
}

function taskOf({ arguments: args, config }: ToolCall, { task_type: fixed, text }: SchedulesOptions): Task {
  const type = fixed ?? args['task_type'];
  if (!isTaskType(type)) throw wrongArgument('/task_type', 'must be a type of task');
  const { execution_data: said = {}, email = config['email'] } = args;
  if (!isJsonObject(said)) throw wrongArgument('/execution_data', 'must be an object');
  const bytes = Buffer.byteLength(JSON.stringify(said));
  if (bytes > MAX_DATA_BYTES)
    throw wrongArgument('/execution_data', `has at most ${MAX_DATA_BYTES} bytes as JSON, these are ${bytes}`);
  return {
    type,
    text: textIn(args, text),
    data: said,
    ...(typeof email === 'string' && email !== '' && { email }),
  };
}

/** One call is scheduled as it is: it may be approved for all its runs. What is more than one is run by the runner, step by step. */
async function whatRuns(
  task: Task,
  call: ToolCall,
  { when, runner }: SchedulesOptions,
  { callerSchedules, settings }: SchedulesNeeds,
): Promise<Pick<OwnDraft, 'tool' | 'arguments'>> {
  const step = stepOf(task, call, settings);
  const mail = mailOf(task, call, settings, 'What it found.');
  if (step !== undefined && mail === undefined) return step;
  if (step !== undefined)
    await inItsWords({ when, tool: step.tool }, () => checkStep(callerSchedules, call, step));
  if (mail !== undefined)
    await inItsWords({ when, data: '/email', tool: mail.tool }, () => checkStep(callerSchedules, call, mail));
  const { type, text, data, email } = task;
  const args: JsonObject = { task_type: type, description: text, execution_data: data };
  return { tool: runner, arguments: { ...args, ...(email !== undefined && { email }) } };
}

async function checkStep(schedules: CallerSchedules, call: ToolCall, { tool, arguments: args }: TaskStep) {
  const { needsApproval } = await schedules.check(call, tool, args);
  if (!needsApproval) return;
  const message = `The tool "${tool}" asks for an approval, and nobody would be there to give it each time: leave out who is told by mail, and the task itself can be approved.`;
  throw toolFailure('TASK_NEEDS_APPROVAL', message, { details: { tool } });
}

/** Who it is, the operator has decided. */
function toldAt({ config }: ToolCall, { callbackUrl }: SchedulesSettings): Pick<OwnDraft, 'callbackUrl'> {
  const own = config['callback_url'];
  const url = typeof own === 'string' && own !== '' ? own : callbackUrl;
  return url === undefined ? {} : { callbackUrl: url };
}
