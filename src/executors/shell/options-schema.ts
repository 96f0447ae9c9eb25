// What a shell tool's implementation_config may say.
import { z } from 'zod';
import { whole } from '../../lib/settings/whole.ts';

const bounds = {
  min: z.number().int().optional().describe('Smallest value that is taken.'),
  max: z.number().int().optional().describe('Largest value that is taken.'),
};

const slot = z
  .union([
    z.enum(['path', 'slug', 'url', 'text', 'int', 'string']),
    z.strictObject({ type: z.enum(['path', 'slug', 'url', 'text', 'string']) }),
    z.strictObject({ type: z.literal('int'), ...bounds }),
    z.strictObject({ type: z.literal('enum'), values: z.array(z.string()).min(1) }),
  ])
  .describe(
    'path: below the workspace. enum: one of `values`. int: with `min` and `max`. slug: letters, digits, _ . -. ' +
      'url: http or https. text: anything, only behind `--`, in `--flag={x}` or on stdin. string: one line that does not look like an option.',
  );

export type SlotOptions = z.infer<typeof slot>;

const size = (least: number) => whole(least);

/** The same names as in gateway.yaml, where the most that a tool may ask for stands. */
export const limitFields = {
  cpu_seconds: size(1).describe('Processor time of each process.'),
  memory_bytes: size(1 << 20).describe(
    'Memory: of the whole run where cgroups can be had, of each process otherwise.',
  ),
  max_processes: size(1).describe('Processes and threads at one time.'),
  output_bytes: size(1024).describe('stdout and stderr together.'),
  file_bytes: size(1024).describe('Largest file that may be written.'),
  workspace_bytes: size(4096).describe('The workspace, and /tmp apart from it.'),
  collect_bytes: size(0).describe('All files of the result together.'),
};

const limits = z.strictObject({
  cpu_seconds: limitFields.cpu_seconds.optional(),
  memory_bytes: limitFields.memory_bytes.optional(),
  max_processes: limitFields.max_processes.optional(),
  output_bytes: limitFields.output_bytes.optional(),
  file_bytes: limitFields.file_bytes.optional(),
  workspace_bytes: limitFields.workspace_bytes.optional(),
  collect_bytes: limitFields.collect_bytes.optional(),
});

const template = z.string().min(1).max(8192);

const commandFields = {
  command: z
    .union([template, z.array(z.string().max(8192)).min(1).max(256)])
    .describe(
      'argv: a list, or a line that is split at blanks once, at load. `{name}` is one argument, or ends `--flag={name}`.',
    ),
  slots: z
    .record(z.string(), slot)
    .default({})
    .describe('Types of placeholders; taken from the input schema when left out.'),
  stdin: template.optional().describe('What the command reads; placeholders may stand anywhere in it.'),
  files: z
    .array(
      z.strictObject({
        path: template.describe('Path in the workspace; `{name}` as a whole is a path slot.'),
        content: z
          .string()
          .max(1 << 20)
          .describe('Text with placeholders.'),
      }),
    )
    .max(64)
    .default([])
    .describe('Files written into the workspace before the command runs.'),
  collect: z
    .array(template)
    .max(64)
    .default([])
    .describe(
      'Paths of files in the workspace that become part of the result; those that are not there are left out.',
    ),
  env: z
    .record(
      z.string().regex(/^(?!LD_)[A-Z_][A-Z0-9_]*$/, 'must be capitals, digits and _, and not start with LD_'),
      z.string().max(8192),
    )
    .default({})
    .describe('Environment besides PATH, HOME, TMPDIR and LANG. No placeholders.'),
  workspace: z
    .enum(['ephemeral', 'session'])
    .default('ephemeral')
    .describe(
      'A fresh folder for each call, or one that stays for the session of one agent and user of the tenant.',
    ),
  limits: limits.default({}).describe('Lower limits than those of gateway.yaml.'),
  ok_exit_codes: z.array(whole(0, 255)).min(1).default([0]).describe('Exit codes that are a success.'),
  output: z
    .enum(['text', 'json'])
    .default('text')
    .describe(
      'text: exit_code, stdout, stderr and files. json: the value that stdout holds, and nothing else.',
    ),
};

const commandSchema = z.strictObject(commandFields);
const { command, ...others } = commandFields;

export const shellOptionsSchema = z
  .strictObject({
    command: command.optional(),
    ...others,
    actions: z
      .record(z.string(), commandSchema)
      .optional()
      .describe('For a tool with actions: one command each, by the name of the action.'),
  })
  .refine(({ command, actions }) => (command === undefined) !== (actions === undefined), {
    error: 'Expected either command, or actions with a command each.',
  });

export type ShellOptions = z.infer<typeof shellOptionsSchema>;
export type CommandOptions = z.infer<typeof commandSchema>;
