// What is left in the old generation of what came and went, where only young objects were collected meanwhile.
import { setImmediate as turn } from 'node:timers/promises';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const COUNT = 4_000;
const IN_FLIGHT = 32;
/** Of each thing that passes, in bytes: far more than anything that may be left of it. */
export const THING_BYTES = 1_600;

interface Thing {
  readonly bytes: number[];
}

/** Bytes of each thing. `leave` gets what `enter` gave. */
export async function leftInOldGeneration<Held>(
  enter: (thing: Thing) => Held,
  leave: (held: Held) => void,
): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;
  const collectYoung = async () => {
    await turn();
    collect({ type: 'minor' });
  };
  collect();
  const before = oldBytes();
  const inFlight: Held[] = [];
  for (let made = 0; made < COUNT; made += 1) {
    inFlight.push(enter({ bytes: Array.from({ length: THING_BYTES / 8 }, () => made) }));
    const first = inFlight.length > IN_FLIGHT ? inFlight.shift() : undefined;
    if (first !== undefined) leave(first);
    if (made % 100 === 0) await collectYoung();
  }
  for (const held of inFlight) leave(held);
  for (let times = 0; times < 3; times += 1) await collectYoung();
  return (oldBytes() - before) / COUNT;
}

function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? 0;
}
