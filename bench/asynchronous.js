// What accepting a call for later costs beside a bare BullMQ.
import { startChild, startGateway } from './children.js';
import { compare, number, report } from './measure.js';
import { callOf, shoot } from './rest-load.js';
import { BODY, withStores } from './stores.js';

/** Calls accepted and ended per second, against jobs added and done by a bare BullMQ of the same concurrency. */
export async function asynchronous() {
  await withStores(async ({ tools, shared: settings, redis, postgres }) => {
    const COUNT = 5_000;
    const WARM_UP_ROUNDS = 4;
    const gateway = await startGateway({ tools, settings: { ...settings, async: { concurrency: 32 } } });
    const bare = await startChild('bullmq-queue.js', redis.url);
    const theirs = async () => {
      const at = performance.now();
      bare.child.send(COUNT);
      await new Promise((resolve) => bare.child.once('message', resolve));
      return COUNT / ((performance.now() - at) / 1000);
    };
    const count = async (condition) =>
      Number(
        (await postgres.sql(`SELECT count(*) AS n FROM calls WHERE kind <> 'sync' AND ${condition}`))[0].n,
      );
    const ours = async () => {
      const already = await count("status = 'succeeded'");
      const at = performance.now();
      // The load notices its end at its next sample: each second, if nothing is said.
      const load = { amount: COUNT, sampleInt: 20 };
      await shoot(callOf(gateway, 'echo', BODY, { prefer: 'respond-async' }), load);
      // All are rows by now; those that have not ended are few, and found by an index.
      while ((await count("status = 'queued'")) + (await count("status = 'running'")) > 0)
        await new Promise((resolve) => setTimeout(resolve, 20));
      const seconds = (performance.now() - at) / 1000;
      const succeeded = (await count("status = 'succeeded'")) - already;
      if (succeeded !== COUNT) throw new Error(`${succeeded} of ${COUNT} calls succeeded`);
      return COUNT / seconds;
    };
    for (const side of [theirs, ours]) for (let round = 0; round < WARM_UP_ROUNDS; round += 1) await side();
    const { base, own, ratio } = await compare(theirs, ours);
    await Promise.all([bare.stop(), gateway.stop()]);
    report(
      'asynchronous calls, accepted and ended',
      `${number(own)} calls/s`,
      `${number(base)} jobs/s (bare BullMQ, concurrency 32)`,
      `${number(ratio * 100)} %`,
      '≥ 50 %',
      ratio >= 0.5,
    );
  });
}
