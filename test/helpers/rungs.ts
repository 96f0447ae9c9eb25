// The rungs that every promise of the sandbox is tested on: `describe.each(RUNGS)('… %s', (rung, settings) => …)`.
import type { SandboxSettings } from '../../src/lib/sandbox-settings.ts';

export type Rung = 'bubblewrap' | 'landlock';

/** For SandboxBench and confiningSpawner: nothing but this rung may be used, so that a test never runs on another. */
const ALL: readonly (readonly [Rung, Pick<SandboxSettings, 'backends'>])[] = [
  ['bubblewrap', { backends: ['bwrap-full', 'bwrap-container'] }],
  ['landlock', { backends: ['landlock'] }],
];

/** UTE_TEST_RUNG: where a machine has no other, as scripts/without-bubblewrap.sh makes it. */
const only = process.env['UTE_TEST_RUNG'] ?? '';

export const RUNGS = ALL.filter(([rung]) => only === '' || rung === only);
