// What the check of an exported chain costs: the time and the peak of the memory of `ute audit verify`, a process of its own, for a
// million records and for a tenth of them. A tenth of the records has personal data that was erased.
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { createWriteStream, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { chainHash, FIRST_PREVIOUS, personalHash } from '../src/lib/audit-chain/chained-record.ts';
import { checkpointLine, keyIdOf, signCheckpoint } from '../src/lib/audit-chain/checkpoint.ts';
import { rangesOf } from '../src/lib/audit-chain/erased-records.ts';
import { exportLine } from '../src/lib/audit-chain/export-line.ts';
import { number, report } from './measure.js';

const RECORDS = 1_000_000;
const NAMED = 1_000;
const MAIN = resolve(import.meta.dirname, '../dist/cli/main.js');

const MOST_SECONDS = 60;
/**
 * What it holds of a record that was erased is a bit. Some 30 MiB of it are in use; the rest is room that V8 keeps while lines pass
 * through. Whether what is in use follows the number of records: test/integration/audit-verify-memory.test.ts.
 */
const MOST_MIB = 256;

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const hash64 = 'a'.repeat(64);

/** The first tenth is erased, and named by the last records. */
function* lines(total) {
  const erased = total / 10;
  let hash = FIRST_PREVIOUS;
  const tombstones = Math.ceil(erased / NAMED);
  for (let seq = 1; seq <= total; seq += 1) {
    const salt = seq.toString(16).padStart(32, '0');
    const nth = seq - (total - tombstones) - 1;
    const from = nth * NAMED + 1;
    const named = Array.from({ length: NAMED }, (_, n) => from + n).filter((each) => each <= erased);
    const data =
      nth >= 0 ? `{"notes":{"erased":"${rangesOf(named)}"}}` : `{"session_id":"s-${seq}","user_id":"ann"}`;
    const kind = nth >= 0 ? 'erasure' : 'outcome';
    const record = `{"arguments_hash":"${hash64}","at":"2026-11-23T15:50:53.658Z","attempts":1,"call_id":"01a2091a-61d9-7000-aab4-a2a6ba928fb6","call_kind":"sync","door":"rest","duration_ms":8.21,"event_id":"${salt}","executor":"javascript","kind":"${kind}","outcome":"ok","personal":"${personalHash(salt, data)}","principal_id":"bEeuaSaY","tool":"look","tool_version":"1.0.0"}`;
    const place = { previous: hash, recordedAt: '2026-11-23T15:50:54.254Z', seq, tenant: 'acme' };
    hash = chainHash(record, place);
    yield [
      `${exportLine({ record, place, hash, ...(seq > erased && { personal: { salt, data } }) })}\n`,
      hash,
    ];
  }
}

async function verified(total) {
  const dir = mkdtempSync(join(tmpdir(), 'ute-verify-'));
  try {
    const file = createWriteStream(join(dir, 'records.jsonl'));
    let [count, last] = [0, ''];
    for (const [line, hash] of lines(total)) {
      if (!file.write(line)) await once(file, 'drain');
      last = hash;
      count += 1;
    }
    file.end();
    await once(file, 'close');
    const statement = {
      tenant: 'acme',
      seq: count,
      hash: last,
      at: '2026-11-23T16:00:00.000Z',
      previous: '',
      key: keyIdOf(publicKey),
    };
    writeFileSync(join(dir, 'checkpoints.jsonl'), checkpointLine(signCheckpoint(statement, privateKey)));
    writeFileSync(join(dir, 'key.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
    const args = [
      'audit',
      'verify',
      'records.jsonl',
      '--checkpoints',
      'checkpoints.jsonl',
      '--public-key',
      'key.pub',
    ];
    const startedAt = performance.now();
    const child = spawn(process.execPath, [MAIN, ...args], {
      cwd: dir,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let [peak, said] = [0, ''];
    child.stdout.setEncoding('utf8').on('data', (text) => (said += text));
    const looks = setInterval(() => {
      const status = () => readFileSync(`/proc/${child.pid}/status`, 'utf8');
      try {
        peak = Number(/VmHWM:\s+(\d+)/.exec(status())?.[1] ?? peak);
      } catch {
        // It has ended.
      }
    }, 100);
    const [code] = await once(child, 'close');
    clearInterval(looks);
    const seconds = (performance.now() - startedAt) / 1000;
    if (code !== 0) throw new Error(`ute audit verify ended with ${code}: ${said}`);
    const size = statSync(join(dir, 'records.jsonl')).size;
    return { seconds, peakMib: peak / 1024, sizeMib: size / 2 ** 20 };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

export async function verify() {
  const few = await verified(RECORDS / 10);
  const all = await verified(RECORDS);
  report(
    `ute audit verify, ${number(RECORDS)} records (${number(all.sizeMib)} MiB)`,
    `${number(all.seconds)} s`,
    `${number(few.seconds)} s (a tenth of them)`,
    '–',
    `< ${MOST_SECONDS} s`,
    all.seconds < MOST_SECONDS,
  );
  report(
    'the same, most memory',
    `${number(all.peakMib)} MiB`,
    `${number(few.peakMib)} MiB (a tenth of them)`,
    '–',
    `≤ ${MOST_MIB} MiB`,
    all.peakMib <= MOST_MIB,
  );
}
