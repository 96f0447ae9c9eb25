// Options: what an entry `type: pack` of gateway.yaml may say.
import { z } from 'zod';
import { INTERACTION_MODES, RISK_LEVELS } from '../../contract/tool/tool-spec.ts';
import { toolOverrides } from '../../lib/overrides/tool-overrides.ts';
import { packName } from '../../lib/packs/pack-manifest.ts';

export const optionsSchema = z.strictObject({
  name: packName.describe('The pack: `ute packs list` names those that come with the gateway.'),
  path: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Folder of a pack of your own; relative ones start from the folder of gateway.yaml. Left out: one that comes with the gateway.',
    ),
  connections: z
    .record(z.string().min(1), z.string().min(1))
    .default({})
    .describe(
      "Connections of yours in place of the pack's own, by the pack's name for them: {receptionist: bookings}.",
    ),
  choose: z
    .record(z.string().min(1), z.string().min(1))
    .default({})
    .describe('What the pack lets you choose, where it does: {search: brave}. Its README names the choices.'),
  overrides: toolOverrides({
    riskLevels: RISK_LEVELS,
    modes: INTERACTION_MODES,
    matches: 'the name of the tool',
  }),
});

export type PackOptions = z.output<typeof optionsSchema>;
