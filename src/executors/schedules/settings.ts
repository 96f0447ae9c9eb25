// What gateway.yaml may say about tasks that tools schedule: what each type runs, how many, how often, and who is told.
import { z } from 'zod';
import { parseDuration } from '../../lib/text/duration.ts';
import { whole } from '../../lib/settings/whole.ts';

const LEAST_MS = 60_000;
const MOST_MS = 86_400_000;

const toolName = z.string().regex(/^[A-Za-z0-9_.-]{1,128}$/, 'expected the name of a tool, or tool.action');

const fields = {
  tools: z
    .strictObject({
      reminder: toolName
        .optional()
        .describe(
          'Is called with {message}; left out: the run itself says it, as result and as intent REMINDER.',
        ),
      agent_task: toolName
        .optional()
        .describe(
          'Is called with execution_data, {prompt}; left out: the run says it, as result and as intent AGENT_TASK.',
        ),
      api_call: toolName.default('api_call').describe('Is called with execution_data.'),
      web_search: toolName.default('search_web').describe('Is called with execution_data.'),
      email: toolName
        .default('email.send_email')
        .describe('Is called with {to, subject, body} where somebody is to be told by mail.'),
    })
    .prefault({})
    .describe('What tasks run: each a full call, with the rights of whoever made the task.'),
  max_per_user: whole(0, 10_000)
    .default(100)
    .describe(
      'Unfinished schedules of one credential, agent and user; a tool that would make more is refused.',
    ),
  min_interval: z
    .string()
    .refine((text) => isInterval(parseDuration(text)), 'expected a duration from 1m to 1d')
    .default('5m')
    .describe('Between two runs of what a tool schedules.'),
  callback_url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      "Who is told of the end of each run, of a host in webhooks.allow_hosts. An agent's own configuration of the tool goes before it.",
    ),
};

function isInterval(ms: number | undefined): ms is number {
  return ms !== undefined && ms >= LEAST_MS && ms <= MOST_MS;
}

/** The section `executors.schedules` of gateway.yaml. */
export function schedulesSettingsSchema() {
  return z.strictObject(fields).transform((said) => ({
    tools: said.tools,
    maxPerUser: said.max_per_user,
    minIntervalMs: parseDuration(said.min_interval) ?? LEAST_MS,
    callbackUrl: said.callback_url,
  }));
}

export type SchedulesSettings = z.output<ReturnType<typeof schedulesSettingsSchema>>;
