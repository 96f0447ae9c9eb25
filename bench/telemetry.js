// What telemetry costs: the same gateway with a collector (one trace of ten, and metrics) beside one without.
import { join } from 'node:path';
import { startChild, startGateway } from './children.js';
import { compare, number, report, WARM_UP_SECONDS } from './measure.js';
import { callOf, perSecond } from './rest-load.js';

const TOOLS = join(import.meta.dirname, 'tools.yaml');
const BODY = { text: 'the quick brown fox jumps over the lazy dog' };
const LEAST = 0.9;

export async function telemetry() {
  const sink = await startChild('otlp-sink.js');
  const settings = { otlp_endpoint: `http://127.0.0.1:${sink.message.port}`, sample_ratio: 0.1, logs: false };
  const plain = await startGateway({ tools: TOOLS });
  const traced = await startGateway({ tools: TOOLS, settings: { telemetry: settings } });
  const [theirs, ours] = [plain, traced].map((gateway) => callOf(gateway, 'echo', BODY));
  for (const side of [theirs, ours]) await perSecond(side, WARM_UP_SECONDS);
  const { base, own, ratio } = await compare(
    () => perSecond(theirs),
    () => perSecond(ours),
  );
  await Promise.all([plain.stop(), traced.stop(), sink.stop()]);
  report(
    'REST echo with telemetry, one trace of ten',
    `${number(own)} calls/s`,
    `${number(base)} calls/s (without)`,
    `${number(ratio * 100)} %`,
    `≥ ${LEAST * 100} %`,
    ratio >= LEAST,
  );
}
