// What an operator may say about the sandbox itself: back ends, whom it runs as, where workspaces are kept.
import { z } from 'zod';
import { whole } from './settings/whole.ts';

const BACKENDS = ['bwrap-full', 'bwrap-container', 'landlock'] as const;

/** Fields of gateway.yaml's `executors.shell`; in force for every executor that runs something in the sandbox. */
export const sandboxFields = {
  backends: z
    .array(z.enum(BACKENDS))
    .min(1)
    .default([...BACKENDS])
    .describe(
      'Back ends that may be used, the best first. The first that works here is used for everything.',
    ),
  uid: whole(1, 2 ** 31)
    .default(65_533)
    .describe('User that commands run as when the gateway is root; nobody else should have this number.'),
  gid: whole(1, 2 ** 31)
    .default(65_533)
    .describe('Group that commands run as when the gateway is root.'),
  cgroups: z
    .boolean()
    .default(true)
    .describe('Use cgroups for memory and processes where the gateway may make them.'),
  tmp_bytes: whole(1 << 20, 2 ** 40)
    .default(64 << 20)
    .describe(
      'Size of /tmp for each process that stays: Python workers and MCP servers. Under bubblewrap it is memory, on the ' +
        '`landlock` rung a watched folder on the disk. Commands of shell tools have `workspace_bytes`.',
    ),
  workspace_dir: z
    .string()
    .min(1)
    .optional()
    .describe('Where the workspaces of sessions are kept; `workspaces` in the data folder when left out.'),
  workspace_tenant_bytes: whole(1 << 20)
    .default(1 << 30)
    .describe(
      'Workspaces of all sessions of one tenant together, with what commands under way may still write.',
    ),
  workspace_free_bytes: whole(0)
    .default(256 << 20)
    .describe(
      'What stays free on the disk of workspaces: a command that might leave less is refused, one that does is ended.',
    ),
  workspace_ttl_ms: whole(60_000)
    .default(24 * 3_600_000)
    .describe('A kept workspace that was not used for so long is removed.'),
};

const sandboxSettingsSchema = z.object(sandboxFields);

export type SandboxSettings = z.infer<typeof sandboxSettingsSchema>;

export const SANDBOX_DEFAULTS: SandboxSettings = sandboxSettingsSchema.parse({});

/** Undefined: they are not valid. The executor's own check says why. */
export function readSandboxSettings(section: unknown): SandboxSettings | undefined {
  return sandboxSettingsSchema.safeParse(section ?? {}).data;
}
