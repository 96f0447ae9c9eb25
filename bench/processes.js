// Two processes on one port beside one: what a call costs, how evenly calls are spread, and what they carry together of a tool
// that waits, under a limit of each process. All share one machine, the callers included.
import { startGateway } from './children.js';
import { ROUNDS, SECONDS, WARM_UP_SECONDS, median, number, report } from './measure.js';
import { callOf, perSecond, shoot } from './rest-load.js';
import { BODY, withStores } from './stores.js';

/** Calls that one process lets in at the same time: those of normal priority may fill 80 % of it, 20. */
const MOST_IN_FLIGHT = 25;
/** A call counts for a moment after its answer, so that a few less are let in without fail. */
const CALLERS_OF_ONE = 16;
/** Below what either process is full at: of two that are full, whichever the machine favours answers more. */
const SPREAD_RATE = 300;
const WAIT_MS = 100;
/**
 * Calls a second of each process where processor time is compared, below what it could answer. A process that is full takes many calls in
 * one turn and writes their commands at once: of the same callers, two processes would be less full than one, and each call dearer.
 */
const COST_RATE = 600;
const COST_CONNECTIONS = 32;

/** `BENCH_SECONDS=1` is for a try: one round, which says little. */
const { BENCH_SECONDS: aTry } = process.env;
const [rounds, seconds, warmUp] =
  aTry === undefined ? [ROUNDS, SECONDS, WARM_UP_SECONDS] : [1, Number(aTry), Number(aTry)];

export async function processes() {
  await withStores(async ({ tools, shared }) => {
    const start = (count, settings = {}) =>
      startGateway({ tools, settings: { ...shared, ...settings, processes: count } });
    await cost([await start(1), await start(2)]);
    const limits = { max_inflight_calls: MOST_IN_FLIGHT, shed_at_lag_ms: 60_000 };
    await waiting([await start(1, { limits }), await start(2, { limits })]);
  });
}

/** Processor time of all processes of each, round by round, one after the other; and who carried the calls of two. */
async function cost([one, two]) {
  const calls = (gateway) => callOf(gateway, 'echo_limited', BODY);
  // Each process gets as many calls until the compiler has nothing left to do.
  await perSecond(calls(one), warmUp);
  await perSecond(calls(two), 2 * warmUp);
  const perCall = async (gateway, count) => {
    const cpu = gateway.allCpuMs();
    const load = { overallRate: count * COST_RATE, connections: count * COST_CONNECTIONS };
    const answered = await shoot(calls(gateway), { duration: seconds, ...load });
    return (gateway.allCpuMs() - cpu) / answered['2xx'];
  };
  const pairs = [];
  for (let round = 0; round < rounds; round += 1) pairs.push([await perCall(one, 1), await perCall(two, 2)]);
  const before = await two.byProcess('ute_tool_calls_total');
  await shoot(calls(two), { duration: rounds * seconds, overallRate: SPREAD_RATE });
  const after = await two.byProcess('ute_tool_calls_total');
  await Promise.all([one.stop(), two.stop()]);
  const ratio = median(pairs.map(([single, both]) => both / single));
  report(
    `two processes, processor time of a limited echo, ${COST_RATE} a second of each`,
    `${number(median(pairs.map(([, both]) => both)))} ms`,
    `${number(median(pairs.map(([single]) => single)))} ms (one process)`,
    `${number(ratio)} ×`,
    '≤ 1.1 ×',
    ratio <= 1.1,
  );
  const carried = [...after].map(([process, count]) => count - (before.get(process) ?? 0));
  const apart =
    (Math.max(...carried) - Math.min(...carried)) / (carried.reduce((sum, n) => sum + n) / carried.length);
  report(
    'two processes, calls carried by each',
    carried.map((count) => number(count)).join(' and '),
    '–',
    `${number(apart * 100)} % apart`,
    '≤ 10 %',
    carried.length === 2 && apart <= 0.1,
  );
}

/** As many callers as are let in: one that came to a full process would be refused, and end this. */
async function waiting([one, two]) {
  const rate = (gateway, callers) => perSecond(callOf(gateway, 'nap', { ms: WAIT_MS }), seconds, callers);
  const pairs = [];
  for (let round = 0; round < rounds; round += 1)
    pairs.push([await rate(one, CALLERS_OF_ONE), await rate(two, 2 * CALLERS_OF_ONE)]);
  await Promise.all([one.stop(), two.stop()]);
  const ratio = median(pairs.map(([single, both]) => both / single));
  report(
    `two processes, a tool of ${WAIT_MS} ms, ${CALLERS_OF_ONE} at once in each`,
    `${number(median(pairs.map(([, both]) => both)))} calls/s`,
    `${number(median(pairs.map(([single]) => single)))} calls/s (one process)`,
    `${number(ratio)} ×`,
    '≥ 1.9 ×',
    ratio >= 1.9,
  );
}
