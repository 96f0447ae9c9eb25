// Options: what an entry `type: python-module` of gateway.yaml may say.
import { z } from 'zod';

export const optionsSchema = z.strictObject({
  modules: z
    .array(
      z
        .string()
        .regex(
          /^[A-Za-z]\w*(?:\.[A-Za-z]\w*)*$/,
          'Expected a module such as math_tools or billing.invoices.',
        ),
    )
    .min(1)
    .describe('Modules whose functions marked with @tool become tools.'),
  paths: z
    .array(z.string().min(1))
    .min(1)
    .describe('Folders where the modules lie; relative ones start from the folder of gateway.yaml.'),
  interpreter: z
    .string()
    .min(1)
    .default('python3')
    .describe(
      'Program that reads the modules: a name on the usual PATH, or a path such as that of a virtual environment.',
    ),
  sandbox: z
    .enum(['required', 'off'])
    .default('required')
    .describe('Importing a module runs its code: inside the sandbox, or as the gateway itself.'),
  timeout_ms: z
    .int()
    .min(100)
    .max(600_000)
    .default(30_000)
    .describe('Longest time that reading all the modules may take.'),
});

export type PythonModuleOptions = z.output<typeof optionsSchema>;
