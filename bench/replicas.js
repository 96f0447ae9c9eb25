// What 1, 2 and 3 replicas carry together on one Redis and one PostgreSQL, for docs/capacity.md.
import { startGateway } from './children.js';
import { WARM_UP_SECONDS, median, number, report } from './measure.js';
import { callOf, perSecond } from './rest-load.js';
import { BODY, withStores } from './stores.js';

const ROUNDS = 3;

/** The one is all work of the gateway and its stores, the other all waiting for the tool. */
const LOADS = [
  { what: 'limited echo', tool: 'echo_limited', args: BODY },
  { what: 'a tool of 100 ms', tool: 'nap', args: { ms: 100 } },
];

/** Has no target: all of it shares one machine, the load's own process included. */
export async function replicas() {
  await withStores(async ({ tools, shared: settings, redis }) => {
    for (const load of LOADS) {
      for (const count of [1, 2, 3]) {
        const gateways = [];
        for (let n = 0; n < count; n += 1) gateways.push(await startGateway({ tools, settings }));
        const told = await measured(gateways, load, redis);
        await Promise.all(gateways.map((gateway) => gateway.stop()));
        report(
          `${load.what}, ${count} replica${count > 1 ? 's' : ''}, 32 callers each`,
          `${number(told.perSecond)} calls/s together`,
          `processor time of a call: gateway ${number(told.gatewayMs)} ms, Redis ${number(told.redisMs)} ms`,
          '–',
          'none',
          true,
        );
      }
    }
  });
}

async function measured(gateways, { tool, args }, redis) {
  const together = async (duration) => {
    const rates = await Promise.all(
      gateways.map((gateway) => perSecond(callOf(gateway, tool, args), duration)),
    );
    return rates.reduce((sum, rate) => sum + rate, 0);
  };
  await together(WARM_UP_SECONDS);
  const gatewayMs = () => gateways.reduce((sum, gateway) => sum + gateway.cpuMs(), 0);
  const [ours, theirs] = [gatewayMs(), await redisMs(redis)];
  const rounds = [];
  const startedAt = performance.now();
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await together());
  const rate = median(rounds);
  const calls = (rate * (performance.now() - startedAt)) / 1000;
  return {
    perSecond: rate,
    gatewayMs: (gatewayMs() - ours) / calls,
    redisMs: ((await redisMs(redis)) - theirs) / calls,
  };
}

async function redisMs({ client }) {
  const info = await client.info('cpu');
  const seconds = (name) => Number(new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1] ?? 0);
  return (seconds('used_cpu_user') + seconds('used_cpu_sys')) * 1000;
}
