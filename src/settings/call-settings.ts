// What gateway.yaml may say of conversations: modes, budgets, sessions.
import { z } from 'zod';
import { isTimeZone } from '../lib/schedule/cron.ts';
import { parseDuration } from '../lib/text/duration.ts';
import { whole } from '../lib/settings/whole.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** null takes away what the preset says. */
const bound = (most: number) => whole(1, most).nullable().optional();
const globs = z.array(z.string().min(1).max(256)).min(1).max(256);

const mode = z.strictObject({
  tools: globs.optional().describe('Globs over names of tools: no other may be called in this mode.'),
  except_tools: globs.optional().describe('Globs over names of tools that may not be called in this mode.'),
  max_risk: z
    .enum(['low', 'medium', 'high', 'critical'])
    .optional()
    .describe('Tools of a greater risk_level may not be called in this mode.'),
  calls_per_turn: bound(1_000).describe('Calls of any tool in one turn.'),
  retrievals_per_turn: bound(1_000).describe('Calls of tools of the category retrieval in one turn.'),
  soft_ms: bound(HOUR_MS).describe(
    'A call that takes longer is told of: a log line, and meta.soft_limit_ms.',
  ),
  retrieval_soft_ms: bound(HOUR_MS).describe('The same for tools of the category retrieval.'),
  hard_ms: bound(HOUR_MS).describe('A call that takes longer is ended: TIMEOUT.'),
  turn_ms: bound(HOUR_MS).describe('Time of all calls of one turn together. Needs hard_ms.'),
});
export type ModeSettings = z.infer<typeof mode>;

export const PRESETS = {
  voice: { retrievals_per_turn: 2, retrieval_soft_ms: 800 },
  text: { retrievals_per_turn: 5, retrieval_soft_ms: 2_000 },
  live_call: { calls_per_turn: 2, soft_ms: 200, hard_ms: 400, turn_ms: 1_000 },
} as const satisfies Readonly<Record<string, ModeSettings>>;

const presetText = (preset: ModeSettings) =>
  Object.entries(preset)
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(', ');

export const modes = z.strictObject({
  voice: mode.prefault({}).describe(`Preset: ${presetText(PRESETS.voice)}.`),
  text: mode.prefault({}).describe(`Preset: ${presetText(PRESETS.text)}.`),
  live_call: mode.prefault({}).describe(`Preset: ${presetText(PRESETS.live_call)}.`),
});
export type ModesSettings = z.infer<typeof modes>;

const spend = z.strictObject({
  calls: whole(1, 1_000_000_000).optional(),
  cost: z
    .number()
    .min(0)
    .max(1_000_000_000)
    .optional()
    .describe('Of metadata.cost of the tools, in their unit.'),
});

export const budgets = z.strictObject({
  per_session: spend.prefault({}).describe('For the life of the session.'),
  per_user: spend.prefault({}).describe('For each day.'),
  per_agent: spend.prefault({}).describe('For each day.'),
  per_tenant: spend.prefault({}).describe('For each day.'),
  time_zone: z
    .string()
    .refine(isTimeZone, 'must be an IANA time zone such as Europe/Berlin')
    .default('UTC')
    .describe('Where a day begins and ends.'),
  on_store_failure: z
    .enum(['local', 'closed'])
    .default('local')
    .describe(
      'Without Redis: each replica counts against its share, or no calls. Unsafe tools: always closed.',
    ),
});
export type BudgetSettings = z.infer<typeof budgets>;

const lasting = (most: number, said: string) =>
  z.string().refine((text) => {
    const ms = parseDuration(text);
    return ms !== undefined && ms >= 1_000 && ms <= most;
  }, `must be a duration from 1s to ${said}, such as 30m`);

export const sessions = z.strictObject({
  required: z
    .boolean()
    .default(false)
    .describe('Refuses every call that names no session of POST /v1/sessions.'),
  idle: lasting(DAY_MS, '24h').default('30m').describe('A session that nobody has used for so long is over.'),
  max_age: lasting(30 * DAY_MS, '30d')
    .default('24h')
    .describe('A session is over then, however much it is used.'),
  max_per_tenant: whole(1, 1_000_000).default(10_000).describe('Sessions of one tenant that are not over.'),
});

export const stream = z.strictObject({
  enabled: z.boolean().default(true),
  max_streams: whole(1, 1_000_000)
    .default(1_000)
    .describe(
      'Streams of one replica; a tenth is kept for tenants that have few. Each may hold a message of limits.max_body_bytes.',
    ),
  max_per_credential: whole(1, 1_000_000).default(500).describe('Streams of one credential at one replica.'),
  resume_for: lasting(60 * 60_000, '1h')
    .default('30s')
    .describe('How long a stream is kept whose connection was lost. Its calls go on meanwhile.'),
  idle: lasting(DAY_MS, '24h')
    .default('10m')
    .describe('A stream in which the client says nothing for so long is ended.'),
});
