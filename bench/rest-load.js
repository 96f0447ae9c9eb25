// A call as a REST request, and how fast answers come: many a second, or one after another.
import autocannon from 'autocannon';
import { SECONDS, median, mediansOf, number } from './measure.js';

export function callOf(gateway, tool, args, headers = {}) {
  return {
    url: `${gateway.url}/v1/tools/${tool}/execute`,
    headers: { authorization: `Bearer ${gateway.key}`, ...headers },
    body: { arguments: args },
  };
}

/** `limits` as autocannon takes them: `duration` in seconds, or `amount`. Anything but success ends the benchmark. */
export async function shoot({ url, headers = {}, body }, limits) {
  const result = await autocannon({ url, ...postOf({ headers, body }), connections: 32, ...limits });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} not 2xx, ${result.errors} errors`);
  return result;
}

export async function perSecond(request, duration = SECONDS, connections = 32) {
  return (await shoot(request, { duration, connections })).requests.average;
}

/**
 * Calls of one tool, and what they took of the gateway's process: `{ perSecond, cpuUs }` of each round. A round ends when its records
 * are in the database: storing what is left takes two seconds of a full core, which the next round would pay.
 */
export function callsOf(gateway, tool, args, connections = 32) {
  const request = callOf(gateway, tool, args);
  return async (duration = SECONDS) => {
    const before = gateway.cpuMs();
    const { requests } = await shoot(request, { duration, connections });
    await gateway.untilShipped();
    return {
      perSecond: requests.average,
      cpuUs: ((gateway.cpuMs() - before) * 1000) / requests.total,
    };
  };
}

/** What `report` takes of rounds of both sides. */
export function calledFigures(pairs, without) {
  const [rate, cpu] = ['perSecond', 'cpuUs'].map((name) =>
    mediansOf(pairs.map((sides) => sides.map((side) => side[name]))),
  );
  const told = (perSecond, us) => `${number(perSecond)} calls/s, ${number(us)} µs of its process a call`;
  return {
    ratio: rate.ratio,
    texts: [
      told(rate.own, cpu.own),
      `${told(rate.base, cpu.base)} (${without})`,
      `${number(rate.ratio * 100)} %`,
    ],
  };
}

/** Median of single requests, one after another, on a connection that is kept. */
export async function latencyMs({ url, headers = {}, body }) {
  const init = postOf({ headers, body });
  const times = [];
  for (let i = 0; i < 600; i += 1) {
    const at = performance.now();
    const response = await fetch(url, init);
    await response.text();
    times.push(performance.now() - at);
    if (response.status !== 200) throw new Error(`${url}: ${response.status}`);
  }
  return median(times);
}

function postOf({ headers, body }) {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
}
