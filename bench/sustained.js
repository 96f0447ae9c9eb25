// Minutes at the highest rate: what the gateway and its embedded database hold of the memory, and whether records keep up.
import { join } from 'node:path';
import { inProcess, startGateway } from './children.js';
import { number, report } from './measure.js';
import { memoryMb } from './process-tree.js';
import { callOf, shoot } from './rest-load.js';

const TOOLS = join(import.meta.dirname, 'tools.yaml');
const BODY = { text: 'the quick brown fox jumps over the lazy dog' };
const MINUTES = Number(process.env.UTE_BENCH_MINUTES ?? 10);
const BURST = 300_000;

export async function sustained() {
  await atHighestRate();
  await aboveIt();
}

async function atHighestRate() {
  const gateway = await startGateway({ tools: TOOLS });
  let highest = memoryMb();
  const watch = setInterval(() => {
    const now = memoryMb();
    if (ofBoth(now) > ofBoth(highest)) highest = now;
  }, 1000);
  const { requests } = await shoot(callOf(gateway, 'echo', BODY), { duration: MINUTES * 60 });
  clearInterval(watch);
  const dropped = await gateway.metric('ute_audit_dropped_total');
  const endedAt = performance.now();
  await gateway.untilShipped();
  const catchUpMs = performance.now() - endedAt;
  await gateway.stop();
  const rate = `${number(requests.average)} calls/s for ${MINUTES} min`;
  report('REST echo, memory of gateway and database together', `${number(ofBoth(highest))} MB PSS (${number(highest.gateway)} gateway, ${number(highest.database)} database; workers of tools beside: ${number(highest.beside)})`, rate, '–', '< 300 MB', ofBoth(highest) < 300); // oxfmt-ignore
  report('REST echo, records dropped', `${dropped}`, rate, '–', '0', dropped === 0);
  report('REST echo, until the last record is in the database', `${number(catchUpMs)} ms`, rate, '–', '< 30,000 ms', catchUpMs < 30_000); // oxfmt-ignore
}

function ofBoth({ gateway, database }) {
  return gateway + database;
}

/** In process, where no HTTP slows it down. */
async function aboveIt() {
  const args = { tools: TOOLS, tool: 'echo', args: BODY, inFlight: 8, count: BURST };
  const { perSecond, dropped, catchUpMs } = await inProcess(args);
  const rate = `${number(perSecond)} calls/s, ${number(BURST)} calls`;
  report('burst in process, until its records are in the database', `${number(catchUpMs)} ms (${dropped} dropped)`, rate, '–', '< 30,000 ms', catchUpMs < 30_000); // oxfmt-ignore
}
