// Run by itself, with the flags of test/integration/passing-memory.test.ts: lets things come and go, with only young objects collected meanwhile, and prints how many bytes of
// each are left in the old generation.
import { setImmediate as turn } from 'node:timers/promises';
import { getHeapSpaceStatistics } from 'node:v8';
import { OpenCalls } from '../../src/core/open-calls.ts';
import { PassingMap } from '../../src/lib/concurrency/passing-map.ts';
import { callOf } from './call-kit.ts';

const COUNT = 4_000;
const IN_FLIGHT = 32;
/** Of each thing that passes, in bytes: far more than anything that may be left of it. */
const THING_BYTES = 1_600;

interface Thing {
  readonly bytes: number[];
}

/** Bytes of each thing. `leave` gets what `enter` gave. */
async function leftOf<Held>(enter: (thing: Thing) => Held, leave: (held: Held) => void): Promise<number> {
  globalThis.gc?.();
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

async function collectYoung(): Promise<void> {
  await turn();
  globalThis.gc?.({ type: 'minor' });
}

function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? 0;
}

function leftOfMap(map: Pick<Map<string, object>, 'set' | 'delete'> | PassingMap<string, object>) {
  let entered = 0;
  const enter = (thing: object) => {
    entered += 1;
    map.set(`${entered}`, thing);
    return `${entered}`;
  };
  return leftOf(enter, (key) => void map.delete(key));
}

const open = new OpenCalls();
const left = {
  openCalls: await leftOf(
    (arguments_) => open.enter(callOf({ arguments: { ...arguments_ } })),
    (slot) => open.leave(slot),
  ),
  passingMap: await leftOfMap(new PassingMap()),
  map: await leftOfMap(new Map()),
};
process.stdout.write(JSON.stringify({ thing: THING_BYTES, left }));
