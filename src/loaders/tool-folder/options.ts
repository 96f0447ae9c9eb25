// What a loader entry of type tool-folder may say.
import { z } from 'zod';

export const optionsSchema = z
  .strictObject({
    path: z
      .string()
      .min(1)
      .describe('Folder of tool folders; a relative one starts from the folder of gateway.yaml.'),
    serve: z
      .enum(['folders', 'registry', 'confirmed'])
      .default('folders')
      .describe(
        'folders: as they stand on disk, and each change of them. registry: what `ute build-tools` wrote into tool_registry.json, exactly, with code that is what was built. confirmed: tools in Python that are dropped into the folder, each in the sandbox and as an operator has confirmed it.',
      ),
    version: z
      .string()
      .regex(/^1\.0\.[0-9a-f]{8}$/, 'expected a version such as 1.0.abc123de')
      .optional()
      .describe('With serve: registry, the only version that is taken.'),
  })
  .refine(({ serve, version }) => version === undefined || serve === 'registry', {
    path: ['version'],
    message: 'is for serve: registry: folders have no version until they are built',
  });

export type ToolFolderOptions = z.output<typeof optionsSchema>;
