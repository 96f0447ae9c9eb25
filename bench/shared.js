// What shared state costs a call: Redis and PostgreSQL against the twins in memory.
import { inProcess, startGateway } from './children.js';
import { WARM_UP_SECONDS, compare, number, report } from './measure.js';
import { callOf, perSecond } from './rest-load.js';
import { BODY, withStores } from './stores.js';

/** REST echo with everything shared and audit durable, against the twins in memory. */
export async function shared() {
  await withStores(async ({ tools, shared: settings }) => {
    const alone = await startGateway({ tools });
    const together = await startGateway({ tools, settings });
    for (const [tool, what] of [
      ['echo', 'REST echo on Redis and PostgreSQL, audit durable'],
      ['echo_limited', 'the same with rate and concurrency limits'],
    ]) {
      const [theirs, ours] = [callOf(alone, tool, BODY), callOf(together, tool, BODY)];
      for (const side of [theirs, ours]) await perSecond(side, WARM_UP_SECONDS);
      const { base, own, ratio } = await compare(
        () => perSecond(theirs),
        () => perSecond(ours),
      );
      report(
        what,
        `${number(own)} calls/s`,
        `${number(base)} calls/s (twins in memory)`,
        `${number(ratio * 100)} %`,
        '≥ 60 %',
        ratio >= 0.6,
      );
    }
    await Promise.all([alone.stop(), together.stop()]);
  });
}

/** What the one round trip to Redis adds to a call, alone on the machine. */
export async function admission() {
  await withStores(async ({ tools, shared: settings }) => {
    const run = { tools, tool: 'echo_limited', args: BODY, inFlight: 1, count: 5_000, warmUp: 5_000 };
    const { base, own } = await compare(
      async () => (await inProcess(run)).medianUs / 1000,
      async () => (await inProcess({ ...run, settings: { redis: settings.redis } })).medianUs / 1000,
      3,
    );
    report(
      'admission by Redis, one call in flight',
      `${number(own - base)} ms added at the median`,
      `${number(base)} ms (twin in memory)`,
      '–',
      '≤ 0.5 ms',
      own - base <= 0.5,
    );
  });
}
