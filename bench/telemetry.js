// What telemetry costs: the same gateway with a collector (one trace of ten, and metrics) beside one without.
import { join } from 'node:path';
import { startChild, startGateway } from './children.js';
import { ROUNDS_OF_A_START, WARM_UP_SECONDS, alternated, comparedStarts, report } from './measure.js';
import { calledFigures, callsOf } from './rest-load.js';

const TOOLS = join(import.meta.dirname, 'tools.yaml');
const BODY = { text: 'the quick brown fox jumps over the lazy dog' };
const LEAST = 0.9;

export async function telemetry() {
  const sink = await startChild('otlp-sink.js');
  const settings = { otlp_endpoint: `http://127.0.0.1:${sink.message.port}`, sample_ratio: 0.1, logs: false };
  const { echo } = await comparedStarts(
    {
      theirs: () => startGateway({ tools: TOOLS }),
      ours: () => startGateway({ tools: TOOLS, settings: { telemetry: settings } }),
    },
    async (plain, traced) => {
      const sides = [plain, traced].map((gateway) => callsOf(gateway, 'echo', BODY));
      for (const side of sides) await side(WARM_UP_SECONDS);
      return { echo: await alternated(...sides, ROUNDS_OF_A_START) };
    },
  );
  await sink.stop();
  const { ratio, texts } = calledFigures(echo, 'without');
  report('REST echo with telemetry, one trace of ten', ...texts, `≥ ${LEAST * 100} %`, ratio >= LEAST);
}
