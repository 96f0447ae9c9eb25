// The schedules executor's options: what a tool does with schedules, and which of its arguments say what.
import { z } from 'zod';

/** Types of task that a tool may make: of the gateway's own, those that a person asks for. */
export const TASKS = ['reminder', 'agent_task', 'api_call', 'web_search'] as const;
export type TaskType = (typeof TASKS)[number];

const argument = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, 'expected the name of an argument');

export const schedulesOptionsSchema = z.strictObject({
  operation: z
    .enum(['create', 'list', 'change', 'delete', 'results', 'run'])
    .describe(
      'What it does with the schedules of its caller: those that the same credential made for the same agent and user. run: what a task is when it is due; for an internal tool.',
    ),
  when: argument
    .default('schedule')
    .describe('create, change: the argument that says when, as in docs/schedules.md.'),
  kind: z
    .enum(['once', 'recurring'])
    .optional()
    .describe('create: what else would be understood is refused. Left out: either will do.'),
  task_type: z
    .enum(TASKS)
    .optional()
    .describe('create: what it makes. Left out: the argument task_type says it.'),
  text: argument.default('description').describe('create: the argument that says what it is about.'),
  runner: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,128}$/, 'expected the name of a tool')
    .default('run_task')
    .describe('create, list: the internal tool of operation run, for tasks that are more than one call.'),
});

export type SchedulesOptions = z.output<typeof schedulesOptionsSchema>;
