// Options: what implementation_config of a javascript tool may say.
import { z } from 'zod';

const fields = {
  handler: z
    .string()
    .min(1)
    .describe('Path of an ES module (.js or .mjs), from the folder of the definition.'),
  export: z
    .string()
    .min(1)
    .optional()
    .describe('Name of the exported function; the action\'s name or "execute" when left out.'),
  files: z
    .record(z.string().min(1), z.string().regex(/^[0-9a-f]{64}$/, 'expected a sha256 in hex'))
    .optional()
    .describe(
      'sha256 of the handler and of each file that it imports by a relative path, by path from its folder: other code is not run. What a registry of tool folders says.',
    ),
  concurrent: z
    .literal(true)
    .optional()
    .describe(
      'Several calls may be in flight in one worker thread, for handlers that wait for others. One that must be ended by force ends the others in its thread.',
    ),
  trusted: z
    .literal(true)
    .optional()
    .describe(
      'Runs the handler inside the gateway process instead of a worker thread: faster, and nothing can stop it. Neither is a security boundary: threads bound the time and memory of faulty code, but code in them reaches files, network and the process.',
    ),
};

export const optionsSchema = z.strictObject(fields).superRefine((options, context) => {
  if (options.trusted === undefined || options.concurrent === undefined) return;
  const message = 'means nothing with `trusted: true`: inside the gateway every call is in flight at once.';
  context.addIssue({ code: 'custom', path: ['concurrent'], message });
});

export type JsOptions = z.output<typeof optionsSchema>;
