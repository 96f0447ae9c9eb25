// What gateway.yaml may say under `executors.mcp`: where packages of servers are kept, and what an installation may take.
import { z } from 'zod';
import { whole } from '../settings/whole.ts';

export const mcpSettingsSchema = z.strictObject({
  packages_dir: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Where packages of servers are installed, for good; `packages` in the data folder when left out. May be copied to a gateway without a network.',
    ),
  install_timeout_ms: whole(1_000, 3_600_000)
    .default(300_000)
    .describe('Longest time for the installation of one package and all that it depends on.'),
  max_package_bytes: whole(1 << 20)
    .default(1 << 30)
    .describe('Most that one package may take on the disk, with all that it depends on.'),
});

export type McpExecutorSettings = z.output<typeof mcpSettingsSchema>;

/** What is not valid is the executor's to refuse. */
export function readMcpSettings(section: unknown): McpExecutorSettings {
  return mcpSettingsSchema.safeParse(section ?? {}).data ?? mcpSettingsSchema.parse({});
}
