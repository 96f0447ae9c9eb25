// Run by itself, with --expose-gc: checks a chain of many records, and prints the heap in bytes as it was after few and after all of them.
import { chainHash, FIRST_PREVIOUS, personalHash } from '../../src/lib/audit-chain/chained-record.ts';
import { exportLine } from '../../src/lib/audit-chain/export-line.ts';
import { verifyChain } from '../../src/lib/audit-chain/verify-chain.ts';

const FEW = 10_000;
const MANY = 100_000;

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

const held: number[] = [];
const lines = () =>
  chain(MANY, (taken) => {
    if (taken !== FEW && taken !== MANY) return;
    globalThis.gc?.();
    held.push(process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers);
  });
const { finding, records, erased } = await verifyChain({ lines, checkpoints: [], publicKeys: [] });
process.stdout.write(JSON.stringify({ finding: finding ?? null, records, erased, held }));
