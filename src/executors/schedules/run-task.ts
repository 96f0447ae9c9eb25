// A task that is due: calls the tool of its type, tells of it by mail where that is asked for, and says it in its own result.
import { isJsonObject, type JsonObject } from '../../contract/json.ts';
import type { Intent } from '../../contract/call/intent.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolRefusal, ToolResponse, ToolResult } from '../../contract/call/tool-response.ts';
import type { NestedCalls } from '../../ports/nested-calls.ts';
import { wrongArgument } from './argument-failure.ts';
import type { SchedulesSettings } from './settings.ts';
import { isTaskType, mailOf, stepOf, type Task, type TaskStep } from './task-steps.ts';
import { textIn } from './task-arguments.ts';

/** More of a result does not go into a mail. */
const MAX_MAIL_CHARS = 20_000;

export interface RunNeeds {
  readonly nestedCalls: NestedCalls;
  readonly settings: SchedulesSettings;
}

/** Each step is a call of its own: as its caller may make it now. */
export async function runTask(call: ToolCall, { nestedCalls, settings }: RunNeeds): Promise<ToolResult> {
  const task = taskIn(call.arguments);
  const step = stepOf(task, call, settings);
  const response = step && (await nestedCalls.run(call, step.tool, step.arguments));
  const mail = mailOf(task, call, settings, mailText(task, response));
  const sent = mail && (await nestedCalls.run(call, mail.tool, mail.arguments));
  if (response?.ok === false) throw failedStep(step, response, sent?.ok === true);
  if (sent?.ok === false) throw failedStep(mail, sent, response !== undefined);
  return {
    data: {
      task_type: task.type,
      description: task.text,
      ...(response === undefined ? task.data : { result: response.data }),
      ...(task.type === 'reminder' && { message: task.text }),
      ...(sent !== undefined && { told_by_mail: true }),
    },
    intents: response === undefined ? [intentOf(task)] : response.intents,
  };
}

function taskIn(args: JsonObject): Task {
  const { task_type: type, execution_data: data = {}, email } = args;
  if (!isTaskType(type)) throw wrongArgument('/task_type', 'must be a type of task');
  if (!isJsonObject(data)) throw wrongArgument('/execution_data', 'must be an object');
  const told = typeof email === 'string' ? { email } : {};
  return { type, text: textIn(args, 'description'), data, ...told };
}

/** What its caller is asked to do: nobody else does. */
function intentOf({ type, text, data: { prompt = '' } }: Task): Intent {
  return type === 'agent_task'
    ? { type: 'AGENT_TASK', description: text, prompt }
    : { type: 'REMINDER', message: text };
}

/** Plain text: what a tool found is read by a person. */
function mailText({ text, data }: Task, response: ToolResponse | undefined): string {
  if (response === undefined)
    return [text, data['prompt']].filter((part) => typeof part === 'string').join('\n\n');
  if (!response.ok) return `${text}\n\nIt failed: ${response.error.message}`;
  const result = JSON.stringify(response.data, null, 2) ?? 'null';
  const cut =
    result.length > MAX_MAIL_CHARS ? `${result.slice(0, MAX_MAIL_CHARS).toWellFormed()}\n(more)` : result;
  return `${text}\n\n${cut}`;
}

function failedStep(step: TaskStep | undefined, { error }: ToolRefusal, didMore: boolean): ToolFailure {
  const tool = step?.tool ?? '';
  return new ToolFailure(error.type, `The task called ${tool}, which failed: ${error.message}`, {
    reason: error.reason,
    origin: error.origin,
    // What was done already is not done again.
    retryable: error.retryable && !didMore,
    ...(error.retryAfterMs !== null && { retryAfterMs: error.retryAfterMs }),
    partialSideEffects: didMore || error.partialSideEffects,
    details: { tool, ...error.details },
  });
}
