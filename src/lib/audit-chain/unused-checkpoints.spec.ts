// What `verify` says of checkpoints that no record was held to.
import { generateKeyPairSync } from 'node:crypto';
import { expect, it } from 'vitest';
import { chainHash, FIRST_PREVIOUS } from './chained-record.ts';
import { checkpointLine, keyIdOf, signCheckpoint } from './checkpoint.ts';
import { exportLine } from './export-line.ts';
import { verifyChain } from './verify-chain.ts';

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const AT = '2026-11-23T00:00:00.000Z';

async function* given(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

function chainOf(tenant: string): { readonly lines: readonly string[]; readonly hashes: readonly string[] } {
  let previous = FIRST_PREVIOUS;
  const all = [1, 2, 3].map((seq) => {
    const record = `{"event_id":"e${seq}","kind":"outcome"}`;
    const place = { previous, recordedAt: AT, seq, tenant };
    previous = chainHash(record, place);
    return { line: exportLine({ record, place, hash: previous }), hash: previous };
  });
  return { lines: all.map(({ line }) => line), hashes: all.map(({ hash }) => hash) };
}

function signed(seq: number, hash = ''): string {
  const statement = { tenant: 'acme', seq, hash, at: AT, previous: '', key: keyIdOf(publicKey) };
  return checkpointLine(signCheckpoint(statement, privateKey)).trimEnd();
}

const notesOf = async (lines: readonly string[], checkpoints: readonly string[]) =>
  (
    await verifyChain({
      lines: () => given(lines),
      checkpoints: [() => given(checkpoints)],
      publicKeys: [publicKey],
    })
  ).notes.join('; ');

const { lines, hashes } = chainOf('acme');

it('a chain that was written anew under another name does not pass as one that checkpoints hold', async () => {
  expect(await notesOf(chainOf('acme2').lines, [signed(3, hashes[2])])).toContain('no record was held');
  expect(await notesOf(lines, [signed(2, hashes[1]), signed(3, hashes[2])])).toBe('');
});

it('tells how many stand behind one of a later record, and were not checked', async () => {
  expect(await notesOf(lines, [signed(3, hashes[2]), signed(2, 'f'.repeat(64))])).toContain(
    '1 checkpoints stand',
  );
});
