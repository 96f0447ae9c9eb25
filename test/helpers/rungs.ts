// The rungs that every promise of the sandbox is tested on: `describe.each(RUNGS)('… %s', (rung, settings) => …)`.
import type { SandboxSettings } from '../../src/lib/sandbox-settings.ts';

export type Rung = 'bubblewrap' | 'landlock';
/** For SandboxBench and confiningSpawner: nothing but this rung may be used, so that a test never runs on another. */
export type RungOnly = readonly [rung: Rung, settings: Pick<SandboxSettings, 'backends'>];

const ALL: readonly RungOnly[] = [
  ['bubblewrap', { backends: ['bwrap-full', 'bwrap-container'] }],
  ['landlock', { backends: ['landlock'] }],
];

/** UTE_TEST_RUNG: where a machine has no other, as scripts/without-bubblewrap.sh makes it. */
const only = process.env['UTE_TEST_RUNG'] ?? '';

export const RUNGS = ALL.filter(([rung]) => only === '' || rung === only);

/** For what docs/sandbox.md promises under bubblewrap alone: empty where there is none. */
export const BUBBLEWRAP = RUNGS.filter(([rung]) => rung === 'bubblewrap');

/** What a sandbox takes here that is told nothing, a gateway's too. */
export const RUNG_HERE: Rung = RUNGS[0]?.[0] ?? 'bubblewrap';
export const BACKEND_HERE = { bubblewrap: 'bwrap-full', landlock: 'landlock' }[RUNG_HERE];
