// What `verify` makes of checkpoints that replicas have written in turn, each into a file of its own.
import { generateKeyPairSync } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { chainHash, FIRST_PREVIOUS } from './chained-record.ts';
import { checkpointId, checkpointLine, keyIdOf, signCheckpoint } from './checkpoint.ts';
import { exportLine } from './export-line.ts';
import { verifyChain } from './verify-chain.ts';

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const AT = '2026-11-23T00:00:00.000Z';
const RECORDS = 120;

const NOT_IN_FILE = 'it begins with record 101: those before it are not in the file and not checked';

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

/** A chain, and a checkpoint of each of its records that names the one before. */
function chainOf(tenant: string) {
  let previous = FIRST_PREVIOUS;
  let last = '';
  const lines: string[] = [];
  const checkpoints: string[] = [];
  for (let seq = 1; seq <= RECORDS; seq += 1) {
    const record = `{"event_id":"e${seq}","kind":"outcome"}`;
    const place = { previous, recordedAt: AT, seq, tenant };
    previous = chainHash(record, place);
    lines.push(exportLine({ record, place, hash: previous }));
    const statement = { tenant, seq, hash: previous, at: AT, previous: last, key: keyIdOf(publicKey) };
    last = checkpointId(statement);
    checkpoints.push(checkpointLine(signCheckpoint(statement, privateKey)).trimEnd());
  }
  return { lines, checkpoints };
}

const acme = chainOf('acme');
const other = chainOf('other');

const verdictOf = (files: readonly (readonly string[])[], first = 1) =>
  verifyChain({
    lines: () => each(acme.lines.slice(first - 1)),
    first,
    checkpoints: files.map((lines) => () => each(lines)),
    publicKeys: [publicKey],
  });

/** Into so many files, by who has made each. */
const filesOf = (checkpoints: readonly string[], makers: readonly number[]) =>
  [0, 1, 2].map((file) => checkpoints.filter((_, index) => makers[index] === file));

it('checkpoints that several replicas have made in any order of turns are whole', async () => {
  const makers = fc.array(fc.integer({ min: 0, max: 2 }), { minLength: RECORDS, maxLength: RECORDS });
  await fc.assert(
    fc.asyncProperty(makers, async (of) => {
      const verdict = await verdictOf(filesOf(acme.checkpoints, of));
      expect([verdict.finding, verdict.checkpoints, verdict.notes]).toEqual([undefined, RECORDS, []]);
    }),
    { numRuns: 30 },
  );
});

it('also of records that are not in the export any more', async () => {
  const turns = acme.checkpoints.map((_, index) => Math.floor(index / 40));
  const files = filesOf(acme.checkpoints, turns);
  for (const given of [files, files.toReversed()])
    expect(await verdictOf(given, 101)).toMatchObject({ records: 20, checkpoints: 21, notes: [NOT_IN_FILE] });
});

it('one that was taken out of another file is missed where a later one follows it', async () => {
  const turns = acme.checkpoints.map((_, index) => index % 2);
  for (const gone of [2, 3, 50, RECORDS - 2]) {
    const files = filesOf(acme.checkpoints, turns).map((file) =>
      file.filter((line) => line !== acme.checkpoints[gone]),
    );
    expect((await verdictOf(files)).finding).toMatchObject({ damage: 'missing', seq: gone + 2 });
    expect((await verdictOf(files.toReversed())).finding).toMatchObject({ damage: 'missing', seq: gone + 2 });
  }
});

it('says that a file may not have been given, where it was not', async () => {
  const [one = []] = filesOf(
    acme.checkpoints,
    acme.checkpoints.map((_, index) => index % 2),
  );
  expect((await verdictOf([one])).finding?.message).toContain('or is in a file that was not given');
});

it('what is missing of another tenant is no damage of this one', async () => {
  const torn = other.checkpoints.toSpliced(4, 1);
  const verdict = await verdictOf([[...torn, ...acme.checkpoints]]);
  expect([verdict.finding, verdict.checkpoints]).toEqual([undefined, RECORDS]);
});
