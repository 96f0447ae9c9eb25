// The schedules executor: a tool that makes, lists, changes and ends schedules: those of its caller, with its caller's rights.
import type { Executor, ExecutorPlugin, ExecutorTarget, PreparedFunction } from '../../contract/plugin.ts';
import { isJsonObject } from '../../contract/json.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolResult } from '../../contract/call/tool-response.ts';
import { createTask, type SchedulesNeeds } from './create-task.ts';
import { schedulesOptionsSchema, type SchedulesOptions } from './options-schema.ts';
import { changeTask, deleteTask, listTasks, resultsOf } from './own-tasks.ts';
import { runTask, type RunNeeds } from './run-task.ts';
import { schedulesSettingsSchema } from './settings.ts';

type Needs = SchedulesNeeds & RunNeeds;

export const schedulesExecutor: ExecutorPlugin<SchedulesOptions, Needs> = {
  name: 'schedules',
  summary:
    'Has calls made later, or again and again: tasks that an agent makes, lists, changes and ends, with the rights of its caller.',
  optionsSchema: schedulesOptionsSchema,
  settingsSchema: schedulesSettingsSchema,
  create: (needs) => createSchedules(needs),
};

type Operation = (call: ToolCall, options: SchedulesOptions, needs: Needs) => Promise<ToolResult>;

const OPERATIONS: Readonly<Record<SchedulesOptions['operation'], Operation>> = {
  create: createTask,
  list: listTasks,
  change: changeTask,
  delete: deleteTask,
  results: resultsOf,
  run: (call, _options, needs) => runTask(call, needs),
};

function createSchedules(needs: Needs): Executor<SchedulesOptions> {
  return {
    prepare(target) {
      checkArguments(target);
      const { options } = target;
      const operation = OPERATIONS[options.operation];
      return {
        yieldsPlainJson: true,
        execute: (call) => operation(call, options, needs),
        ...(options.operation === 'run' && { calls: toolsOf(needs) }),
      } satisfies PreparedFunction;
    },
  };
}

function toolsOf({ settings }: Needs): readonly string[] {
  return Object.values(settings.tools).filter((tool) => tool !== undefined);
}

/** What an operation reads, its callers can say. */
function checkArguments({ function: fn, options }: ExecutorTarget<SchedulesOptions>): void {
  const { properties = {} } = fn.inputSchema;
  const missing = argumentsOf(options).find(
    (name) => !isJsonObject(properties) || !Object.hasOwn(properties, name),
  );
  if (missing !== undefined)
    throw new Error(
      `The input schema has no property "${missing}", which operation ${options.operation} reads.`,
    );
}

function argumentsOf({ operation, when, text, task_type: type }: SchedulesOptions): readonly string[] {
  if (operation === 'create') return [when, text, ...(type === undefined ? ['task_type'] : [])];
  if (operation === 'run') return ['task_type', 'description', 'execution_data', 'email'];
  return operation === 'list' ? [] : ['task_id'];
}
