// How long a start takes, by what keeps the state.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway } from './children.js';
import { ROUNDS, median, number, report } from './measure.js';
import { withStores } from './stores.js';

const ROOT = join(import.meta.dirname, '..');

/** From start to ready, with a fresh and a known embedded database, and with PostgreSQL and Redis. */
export async function starts() {
  const tools = join(ROOT, 'config/tools.yaml');
  const dataDir = mkdtempSync(join(tmpdir(), 'ute-bench-data-'));
  const timed = async (settings) => {
    const gateway = await startGateway({ tools, settings });
    const databaseMs = await untilRecorded(gateway);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const resident = gateway.residentMb();
    await gateway.stop();
    return { readyMs: gateway.readyMs, databaseMs: gateway.readyMs + databaseMs, resident };
  };
  const settings = { data_dir: dataDir };
  const first = await timed(settings);
  const later = [];
  for (let round = 0; round < 3; round += 1) later.push(await timed(settings));
  rmSync(dataDir, { recursive: true, force: true });
  const laterMs = median(later.map(({ databaseMs }) => databaseMs));
  report('embedded database, first start to the first record', `${number(first.databaseMs)} ms`, `${number(first.readyMs)} ms (doors open)`, '–', '< 3,000 ms', first.databaseMs < 3000); // oxfmt-ignore
  report('embedded database, later start to the first record', `${number(laterMs)} ms`, `${number(median(later.map(({ readyMs }) => readyMs)))} ms (doors open)`, '–', '< 2,500 ms', laterMs < 2500); // oxfmt-ignore
  await withStores(async ({ shared: stores }) => {
    const runs = [];
    for (let round = 0; round < ROUNDS; round += 1) runs.push(await timed(stores));
    const readyMs = median(runs.map((run) => run.readyMs));
    const resident = median(runs.map((run) => run.resident));
    report(
      'PostgreSQL and Redis, start to ready',
      `${number(readyMs)} ms`,
      '–',
      '–',
      '< 1,500 ms',
      readyMs < 1500,
    );
    report(
      'PostgreSQL and Redis, resident when idle',
      `${number(resident)} MB`,
      '–',
      '–',
      '< 170 MB',
      resident < 170,
    );
  });
}

/** Asks for the history, which needs the database; milliseconds until it answers. */
async function untilRecorded(gateway) {
  const at = performance.now();
  const headers = { authorization: `Bearer ${gateway.key}` };
  for (let attempt = 0; attempt < 400; attempt += 1) {
    const response = await fetch(`${gateway.url}/v1/calls`, { headers });
    await response.arrayBuffer();
    if (response.status === 200) return performance.now() - at;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error('the database did not open');
}
