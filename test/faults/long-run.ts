// A fault run, outside of the suite: three gateways under load while Redis, PostgreSQL and gateways are broken at random.
// npm run -s build && node test/faults/long-run.ts --minutes 30 [--seed 1] [--clients 24] [--out docs/fault-run.md]
import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { FaultBench } from '../helpers/fault-bench.ts';
import { Clients } from './long-run/clients.ts';
import { FaultTracks, type FaultSpan } from './long-run/fault-tracks.ts';
import { Random } from './long-run/random.ts';
import { verdictOf, type Verdict } from './long-run/verdict.ts';

const GATEWAYS = ['one', 'two', 'three'];
const SETTINGS = { async: { lease_ms: 5_000 }, shutdown: { drain_ms: 10_000 } };
const TOLD_EVERY_MS = 30_000;
const SHOWN = 40;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    clients: { type: 'string', default: '24' },
    out: { type: 'string' },
  },
});
const [minutes, seed, clientCount] = [values.minutes, values.seed, values.clients].map(Number) as [
  number,
  number,
  number,
];

async function run(bench: FaultBench): Promise<boolean> {
  const random = new Random(seed);
  for (const name of GATEWAYS) await bench.gateway(name, { settings: SETTINGS });
  const tracks = new FaultTracks(bench, SETTINGS);
  const clients = new Clients(bench);
  clients.begin(clientCount, random.fork());
  tracks.begin(random.fork());
  await tellMeanwhile(clients, tracks);
  await tracks.stop();
  say('nothing is broken any more; the gateways recover');
  const unrecovered = await bench.unrecovered();
  await clients.stop();
  say('every client has its answer; what runs comes to its end');
  const verdict = await verdictOf(bench, clients.asked, tracks.spans);
  const wrong = [...verdict.wrong, ...unrecovered.map((name) => `gateway ${name} did not recover`)];
  const report = reportOf({ ...verdict, wrong }, tracks.spans);
  process.stdout.write(`\n${report}`);
  if (values.out !== undefined) writeFileSync(values.out, report);
  return wrong.length === 0;
}

async function tellMeanwhile(clients: Clients, { spans }: FaultTracks): Promise<void> {
  const endsAt = performance.now() + minutes * 60_000;
  for (let leftMs = endsAt - performance.now(); leftMs > 0; leftMs = endsAt - performance.now()) {
    await pause(Math.min(leftMs, TOLD_EVERY_MS));
    const broken = spans.filter(({ to }) => to === undefined).map(({ of, kind }) => `${of} ${kind}`);
    say(
      `${clients.asked.length} calls, ${spans.length} faults; now: ${broken.join(', ') || 'nothing broken'}`,
    );
  }
}

function reportOf({ wrong, counts }: Verdict, spans: readonly FaultSpan[]): string {
  const faults = new Map<string, number[]>();
  for (const { of, kind, from, to = from } of spans)
    faults.set(`${of}: ${kind}`, [...(faults.get(`${of}: ${kind}`) ?? []), to - from]);
  return [
    '# The last fault run',
    '',
    'Three gateways, a Redis, a PostgreSQL and a tool server that counts; [test/faults/long-run.ts](../test/faults/long-run.ts) breaks them at',
    'random under load. It counts at the tool and through the API, once nothing is broken any more and every call has ended.',
    '',
    `- ${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC, ${minutes} minutes, seed ${seed}, ${clientCount} clients, ${availableParallelism()} cores`,
    `- ${wrong.length === 0 ? 'Nothing is wrong: 0 executed twice, 0 accepted and lost, no limit passed beyond its [bound](limits.md).' : `${wrong.length} wrong.`}`,
    ...wrong.slice(0, SHOWN).map((sentence) => `  - ${sentence}`),
    '',
    '| Count | |',
    '| --- | ---: |',
    ...Object.entries(counts).map(([name, count]) => `| ${name} | ${count} |`),
    '',
    '| Fault | Times | Longest, s |',
    '| --- | ---: | ---: |',
    ...[...faults]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, lasted]) => `| ${name} | ${lasted.length} | ${(Math.max(...lasted) / 1000).toFixed(1)} |`),
    '',
  ].join('\n');
}

function say(text: string): void {
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
}

say(`seed ${seed}, ${minutes} minutes`);
const bench = await FaultBench.start();
try {
  process.exitCode = (await run(bench)) ? 0 : 1;
} finally {
  await bench.stop();
}
