// The doors that a role opens, and when they are loaded: a worker has none, and loads no Nest.
import { setImmediate as yieldToLoop, setTimeout as pause } from 'node:timers/promises';
import { openRecoveryServer } from '../../api/health/recovery-server.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import type { Infra } from '../adapters/create-ports.ts';
import type { DoorParts, Doors } from './open-doors.ts';

/** What tools get before the doors are loaded. Files are read by then; a source elsewhere is not waited for. */
const HEAD_START_MS = 200;

/** Of a worker: nobody calls it. Its probes are on the metrics port. */
const NO_DOORS: Doors = {
  listen: async () => ({}),
  setServing: () => undefined,
  setAccepting: () => undefined,
  close: async () => undefined,
};

/**
 * What tools start, such as a Python, gets ready on another core while this one is busy: so that goes first. The turns
 * are for what it takes to start it.
 */
export async function bootDoors(parts: DoorParts, underWay: Promise<unknown>): Promise<Doors> {
  if (parts.settings.role === 'worker') return NO_DOORS;
  await Promise.race([underWay, pause(HEAD_START_MS, undefined, { ref: false })]);
  await yieldToLoop();
  // First, and by itself: what is bundled runs the parts of Nest in an order of its own, and each of them needs it.
  await import('reflect-metadata');
  const { prepareDoors } = await import('./open-doors.ts');
  await yieldToLoop();
  return prepareDoors(parts);
}

/**
 * A crash of the machine may leave the embedded database minutes of work: until that is done, the port tells how far it
 * is, and refuses calls. `end` gives the port that was used, which the doors then take.
 */
export function answerWhileRecovering(
  settings: Settings,
  { server }: Infra,
): { end(): Promise<number | undefined> } {
  let ended = false;
  const opening = server.recovering().then(() => {
    if (ended || settings.role === 'worker') return undefined;
    return openRecoveryServer(settings, () => `the database is ${server.step}`);
  });
  opening.catch(() => undefined);
  return {
    async end() {
      ended = true;
      if (!server.hasRecovered) return undefined;
      const opened = await opening;
      await opened?.close();
      return opened?.port;
    },
  };
}
