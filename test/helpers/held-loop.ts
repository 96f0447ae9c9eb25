// How long the event loop of a gateway in a process of its own was held, as loop-probe.mjs in it says.
import { resolve } from 'node:path';
import { expect } from 'vitest';
import type { GatewayProcess } from './gateway-process.ts';
import { eventually } from './eventually.ts';

/** What a gateway is started with so that it can say it. */
export const LOOP_PROBE = {
  NODE_OPTIONS: `--import=${resolve(import.meta.dirname, 'loop-probe.mjs')}`,
};

/** The longest since it was asked last, in milliseconds of a machine that has nothing else to do. */
export async function heldMs(gateway: GatewayProcess): Promise<number> {
  const before = gateway.stderr.length;
  gateway.signal('SIGUSR2');
  const found = () => /the loop was held for ([\d.]+) ms/.exec(gateway.stderr.slice(before))?.[1];
  await eventually(() => expect(found()).toBeDefined());
  return Number(found());
}

/** A collection of garbage may fall into any one run: what holds the loop by itself does so in each of six. */
export async function leastHeldBy(
  gateway: GatewayProcess,
  enough: number,
  run: () => Promise<unknown>,
): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  await heldMs(gateway);
  for (let count = 0; count < 6 && least >= enough; count += 1) {
    await run();
    least = Math.min(least, await heldMs(gateway));
  }
  return least;
}
