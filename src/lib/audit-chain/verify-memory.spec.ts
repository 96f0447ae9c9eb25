// The check of a chain holds no more of many records than of few.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { chainHash, FIRST_PREVIOUS, personalHash } from './chained-record.ts';
import { exportLine } from './export-line.ts';
import { verifyChain } from './verify-chain.ts';

const FEW = 2_000;
const MANY = 20_000;

/** The data of each was erased, and the next names it. `look` is told how many have been taken. */
async function* chain(count: number, look: (taken: number) => void): AsyncGenerator<string> {
  let previous = FIRST_PREVIOUS;
  for (let seq = 1; seq <= count; seq += 1) {
    const isErasure = seq % 2 === 0;
    const salt = seq.toString(16).padStart(32, '0');
    const data = isErasure ? `{"notes":{"erased":"${seq - 1}"}}` : `{"user_id":"ann ${seq}"}`;
    const record = `{"event_id":"e-${seq}","kind":"${isErasure ? 'erasure' : 'outcome'}","personal":"${personalHash(salt, data)}"}`;
    const place = { previous, recordedAt: '2026-01-31T12:00:00.000Z', seq, tenant: 'acme' };
    previous = chainHash(record, place);
    yield exportLine({ record, place, hash: previous, ...(isErasure && { personal: { salt, data } }) });
    look(seq);
  }
}

it('is as large after ten times as many records', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const held = new Map<number, number>();
  const lines = () =>
    chain(MANY, (taken) => {
      if (taken !== FEW && taken !== MANY) return;
      collect();
      held.set(taken, process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers);
    });
  const verdict = await verifyChain({ lines, checkpoints: [], publicKeys: [] });
  expect(verdict).toMatchObject({ records: MANY, erased: MANY / 2 });
  expect(verdict.finding).toBeUndefined();
  // Ten bytes for each record would be more.
  expect((held.get(MANY) ?? Infinity) - (held.get(FEW) ?? 0)).toBeLessThan(180_000);
});
