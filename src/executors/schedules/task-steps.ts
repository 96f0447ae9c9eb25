// What a task runs when it is due: the tool of its type, and the mail that tells of it.
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { isJsonObject } from '../../contract/json.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import { wrongArgument } from './argument-failure.ts';
import type { SchedulesSettings } from './settings.ts';
import { TASKS, type TaskType } from './options-schema.ts';

export interface Task {
  readonly type: TaskType;
  /** What it is about; of a reminder, what is to be said. */
  readonly text: string;
  readonly data: JsonObject;
  /** Who is told by mail. */
  readonly email?: string;
}

export interface TaskStep {
  readonly tool: string;
  readonly arguments: JsonObject;
}

export function isTaskType(type: unknown): type is TaskType {
  return TASKS.some((known) => known === type);
}

/** Undefined: nothing is called, the run itself says it. Throws ToolFailure: VALIDATION, TASK_TOOL_NOT_FOUND. */
export function stepOf(task: Task, call: ToolCall, { tools }: SchedulesSettings): TaskStep | undefined {
  const { type, data } = task;
  const tool = tools[type];
  if (type === 'reminder')
    return tool === undefined ? undefined : stepWith(call, type, tool, { message: task.text });
  if (type === 'agent_task') {
    if (typeof data['prompt'] !== 'string' || data['prompt'].trim() === '')
      throw wrongArgument('/execution_data/prompt', 'must say what the agent is to do');
    return tool === undefined ? undefined : stepWith(call, type, tool, data);
  }
  return stepWith(call, type, tool ?? '', data);
}

export function mailOf(
  task: Task,
  call: ToolCall,
  { tools }: SchedulesSettings,
  body: string,
): TaskStep | undefined {
  if (task.email === undefined) return undefined;
  const subject = `${TITLES[task.type]}: ${task.text}`.replaceAll(/\s+/g, ' ').slice(0, MAX_SUBJECT);
  return stepWith(call, 'email', tools.email, { to: task.email, subject, body });
}

const MAX_SUBJECT = 200;
const TITLES = {
  reminder: 'Reminder',
  agent_task: 'Task for the agent',
  api_call: 'Scheduled call',
  web_search: 'Scheduled search',
} as const satisfies Record<TaskType, string>;

function stepWith(call: ToolCall, key: TaskType | 'email', tool: string, args: JsonObject): TaskStep {
  const known = call.snapshot.find(tool);
  const { principal } = call;
  // What is hidden from the caller is not there.
  if (known === undefined || principal === undefined || known.isShownTo?.({ principal }) === false)
    throw noTool(key, tool);
  return { tool, arguments: key === 'web_search' ? withoutWishes(known.function, args) : args };
}

/** `summarize` is for whoever reads the result: a search that knows nothing of it is not told. */
function withoutWishes({ inputSchema }: ToolFunction, args: JsonObject): JsonObject {
  const { properties } = inputSchema;
  const { summarize, ...rest } = args;
  return summarize === undefined || has(properties, 'summarize') ? args : rest;
}

function has(properties: JsonValue | undefined, name: string): boolean {
  return isJsonObject(properties) && Object.hasOwn(properties, name);
}

function noTool(key: TaskType | 'email', tool: string): ToolFailure {
  const what = key === 'email' ? 'Whoever is told by mail' : `A task of type ${key}`;
  const message = `${what} needs the tool "${tool}", which is not there: its operator adds the pack that has it, or names another in executors.schedules.tools.${key}.`;
  return toolFailure('TASK_TOOL_NOT_FOUND', message, {
    origin: 'tool',
    partialSideEffects: false,
    details: { tool, setting: `executors.schedules.tools.${key}` },
  });
}
