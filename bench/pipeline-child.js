// The pipeline by itself: execute() in this process, echo handler, all default extensions. Sends the median in µs.
import { loadSettings } from '../dist/settings/load-settings.js';
import { createInfra } from '../dist/app/adapters/create-ports.js';
import { createGateway } from '../dist/app/gateway/create-gateway.js';

const [config, key, tool, argumentsJson, inFlight, count, warmUp] = process.argv.slice(2);
const settings = loadSettings({ UTE_CONFIG: config }, process.cwd());
const infra = await createInfra(settings, () => undefined);
const gateway = await createGateway(settings, infra.ports);
await gateway.sync.start();
// As a gateway does before it opens its doors: to make the embedded database takes both cores for a second.
await infra.database.openNow();

const credential = { kind: 'bearer', token: key };
const execute = (args) =>
  gateway.executor.execute({ tool, arguments: args, context: {}, credential, door: 'bench' });
/** Between calls the event loop turns, as it does between requests: the audit file and the log are written then. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

async function timed() {
  const args = JSON.parse(argumentsJson);
  const at = performance.now();
  const response = await execute(args);
  const spent = performance.now() - at;
  if (!response.ok) throw new Error(JSON.stringify(response.error));
  return spent;
}
for (let i = 0; i < Number(warmUp); i += 1) {
  await timed();
  if (i % 16 === 0) await turn();
}

const times = [];
const startedAt = performance.now();
let left = Number(count);
async function caller() {
  while (left > 0) {
    left -= 1;
    times.push(await timed());
    if (left % 16 === 0) await turn();
  }
}
await Promise.all(Array.from({ length: Number(inFlight) }, caller));
const seconds = (performance.now() - startedAt) / 1000;
const endedAt = performance.now();
await infra.ports.auditSink.ship();
const catchUpMs = performance.now() - endedAt;
const { text } = await infra.metrics.exposition();
times.sort((a, b) => a - b);
process.send({
  catchUpMs,
  dropped: Number(/^ute_audit_dropped_total (.+)$/m.exec(text)?.[1]),
  medianUs: times[times.length >> 1] * 1000,
  p99Us: times[Math.floor(times.length * 0.99)] * 1000,
  perSecond: times.length / seconds,
});
await gateway.close();
await infra.close();
process.exit(0);
