// `node bench/paired.js ../before . grpc http`: the gateways of two built checkouts, or more, run at once and are called in turn.
// Runs one after the other would differ by a fifth on a machine that others use. Run it again before you believe a difference of 5 %.
import { join, resolve } from 'node:path';
import { startChild } from './children.js';
import { echoes } from './grpc.js';
import { postingTool } from './http.js';
import { SECONDS, WARM_UP_SECONDS, median, number } from './measure.js';
import { callOf, shoot } from './rest-load.js';
import { nothingTool } from './shell.js';
import { BODY } from './stores.js';

const ROUNDS = 12;

/** Calls of a tool over REST: how many in so many seconds. */
const over = (connections, tool, args) => async (gateway, duration) =>
  (await shoot(callOf(gateway, tool, args), { duration, connections })).requests.total;

/** `file`: makes the tools.yaml that all of them serve; left out, each serves the bench/tools.yaml of its checkout. `calls`: of one round. */
const parts = {
  rest: { calls: over(32, 'echo', BODY) },
  grpc: { calls: (gateway, seconds) => echoes(gateway.grpc, gateway.key, seconds) },
  http: { file: postingTool, calls: over(32, 'post', BODY) },
  httpAlone: { file: postingTool, calls: over(1, 'post', BODY) },
  shell: { file: nothingTool, calls: over(1, 'nothing', {}) },
};

const asked = process.argv.slice(2);
const names = asked.filter((word) => Object.hasOwn(parts, word));
const roots = asked.filter((word) => !Object.hasOwn(parts, word));
if (roots.length < 2)
  throw new Error(`expected two checkouts, and what to measure of ${Object.keys(parts).join(', ')}`);

for (const name of names.length > 0 ? names : Object.keys(parts)) await measured(name, parts[name]);

async function measured(name, { file, calls }) {
  const upstream = await startChild('fastify-echo.js');
  const tools = file?.(`http://127.0.0.1:${upstream.message.port}`);
  const sides = [];
  for (const root of roots) {
    const { startGateway } = await import(join(resolve(root), 'bench/children.js'));
    const gateway = await startGateway({ tools: tools?.path ?? join(resolve(root), 'bench/tools.yaml') });
    await calls(gateway, WARM_UP_SECONDS);
    sides.push({ root, gateway, rounds: [] });
  }
  for (let round = 0; round < ROUNDS; round += 1)
    for (const { gateway, rounds } of round % 2 === 0 ? sides : sides.toReversed()) {
      const before = gateway.cpuMs();
      const count = await calls(gateway, SECONDS);
      rounds.push({ perSecond: count / SECONDS, cpuUs: ((gateway.cpuMs() - before) * 1000) / count });
    }
  for (const { root, rounds } of sides) print(name, root, rounds, sides[0].rounds);
  await Promise.all([upstream.stop(), ...sides.map(({ gateway }) => gateway.stop())]);
  tools?.gone();
}

/** The process alone, without the database beside it. */
function print(name, root, rounds, first) {
  const of = (figure) => number(median(rounds.map((round) => round[figure])));
  const ratio = (figure) => number(median(rounds.map((round, at) => round[figure] / first[at][figure])));
  process.stdout.write(
    `${name}, ${root}: ${of('perSecond')} calls/s, ${ratio('perSecond')} of the first; ${of('cpuUs')} µs of its processor time a call, ${ratio('cpuUs')} of the first\n`,
  );
}
