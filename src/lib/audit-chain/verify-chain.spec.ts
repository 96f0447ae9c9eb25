// Checking an exported chain: each kind of tampering is named, whatever is changed is found, and what is whole is called so.
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chainHash, FIRST_PREVIOUS, personalHash } from './chained-record.ts';
import { checkpointId, checkpointLine, keyIdOf, signCheckpoint, type Checkpoint } from './checkpoint.ts';
import { exportLine, readExportLine } from './export-line.ts';
import { verifyChain, type Verdict } from './verify-chain.ts';

const { privateKey } = generateKeyPairSync('ed25519');
const publicKey = createPublicKey(privateKey);
const TENANT = 'acme "east"';

interface Made {
  readonly lines: string[];
  readonly checkpoints: string[];
}

/** A chain of so many records, and a checkpoint at each third; `edit` changes what a record says. */
function chainOf(
  count: number,
  edit: (n: number) => string = String,
  from = 0,
  previous = FIRST_PREVIOUS,
): Made {
  const lines: string[] = [];
  const checkpoints: string[] = [];
  let [hash, last] = [previous, ''];
  for (let seq = from + 1; seq <= from + count; seq += 1) {
    const data = `{"user_id":"ann ${seq}"}`;
    const salt = seq.toString(16).padStart(32, '0');
    const isPersonal = seq % 2 === 0;
    const beside = isPersonal ? `,"personal":"${personalHash(salt, data)}"` : '';
    const record = `{"event_id":"e-${seq}","kind":"outcome","outcome":"${edit(seq)}"${beside}}`;
    const place = { previous: hash, recordedAt: '2026-01-31T12:00:00.000Z', seq, tenant: TENANT };
    hash = chainHash(record, place);
    lines.push(exportLine({ record, place, hash, ...(isPersonal && { personal: { salt, data } }) }));
    if (seq % 3 === 0) {
      const made = checkpoint(seq, hash, last);
      last = checkpointId(made);
      checkpoints.push(checkpointLine(made).trimEnd());
    }
  }
  return { lines, checkpoints };
}

function checkpoint(seq: number, hash: string, previous = '', key: KeyObject = privateKey): Checkpoint {
  const at = '2026-01-31T12:01:00.000Z';
  return signCheckpoint({ tenant: TENANT, seq, hash, at, previous, key: keyIdOf(createPublicKey(key)) }, key);
}

async function* each(lines: readonly string[]) {
  yield* lines;
}

const check = ({ lines, checkpoints }: Made, first = 1): Promise<Verdict> =>
  verifyChain({
    lines: () => each(lines),
    checkpoints: [() => each(checkpoints)],
    publicKeys: [publicKey],
    first,
  });

const hashAt = ({ lines }: Made, seq: number) => readExportLine(lines[seq - 1] ?? '')?.hash ?? '';

describe('a chain that is whole', () => {
  it('is called so, with its checkpoints', async () => {
    const made = chainOf(10);
    const verdict = await check(made);
    expect(verdict).toEqual({
      tenant: TENANT, records: 10, first: 1, last: 10, lastHash: hashAt(made, 10), checkpoints: 3, erased: 0, notes: [],
    }); // oxfmt-ignore
  });

  it('may begin later where that is said, which is noted, and is held to a checkpoint of the record before', async () => {
    const whole = chainOf(10);
    const later = { lines: whole.lines.slice(3), checkpoints: whole.checkpoints };
    expect(await check(later)).toMatchObject({ finding: { damage: 'missing', seq: 1 } });
    expect(await check(later, 4)).toMatchObject({
      first: 4,
      checkpoints: 3,
      notes: [expect.stringContaining('record 4')],
    });
    const other = chainOf(7, String, 3, 'f'.repeat(64));
    expect((await check({ ...other, checkpoints: whole.checkpoints.slice(0, 1) }, 4)).finding).toMatchObject({
      damage: 'forked',
      seq: 3,
    });
  });

  it('of nothing at all is whole', async () => {
    expect(await check({ lines: [], checkpoints: [] })).toMatchObject({ records: 0 });
  });
});

describe('personal data that was erased', () => {
  const strip = (line = '') => line.replace(/"personal":\{"data":.*?,"salt":"[0-9a-f]{32}"\},/, '');
  /** Four records with data of somebody; the last says that that of the second and the third was erased. */
  const erased = (stripped: readonly number[], named = '2-3') => {
    const lines: string[] = [];
    let hash = FIRST_PREVIOUS;
    for (let seq = 1; seq <= 4; seq += 1) {
      const data = seq === 4 ? `{"notes":{"erased":"${named}"}}` : `{"user_id":"ann"}`;
      const salt = seq.toString(16).padStart(32, '0');
      const kind = seq === 4 ? 'erasure' : 'outcome';
      const record = `{"event_id":"e-${seq}","kind":"${kind}","personal":"${personalHash(salt, data)}"}`;
      const place = { previous: hash, recordedAt: '2026-01-31T12:00:00.000Z', seq, tenant: TENANT };
      hash = chainHash(record, place);
      const line = exportLine({ record, place, hash, personal: { salt, data } });
      lines.push(stripped.includes(seq) ? strip(line) : line);
    }
    return check({ lines, checkpoints: [checkpointLine(checkpoint(4, hash)).trimEnd()] });
  };

  it('is no damage where a record behind it says so, and is told', async () => {
    expect(await erased([2, 3])).toMatchObject({ records: 4, erased: 2, checkpoints: 1 });
    const { finding: found, notes } = await erased([2, 3]);
    expect(found).toBeUndefined();
    expect(notes).toEqual(['the personal data of 2 records was erased, as the chain says']);
  });

  it('is damage where none says so, and where the record that did was erased itself', async () => {
    expect((await erased([1, 2])).finding).toMatchObject({ damage: 'altered', seq: 1 });
    expect((await erased([2, 3], '2')).finding).toMatchObject({ damage: 'altered', seq: 3 });
    expect((await erased([2, 4])).finding).toMatchObject({ damage: 'altered', seq: 2 });
  });
});

const whole = chainOf(12);
const finding = async (change: (made: Made) => void) => {
  const made = { lines: [...whole.lines], checkpoints: [...whole.checkpoints] };
  change(made);
  return (await check(made)).finding;
};

describe('tampering is named', () => {
  it('altered: what a record says', async () => {
    const change = ({ lines }: Made) =>
      (lines[4] = (lines[4] ?? '').replace('"outcome":"5"', '"outcome":"6"'));
    expect(await finding(change)).toMatchObject({ damage: 'altered', seq: 5 });
  });

  it('altered: a record that was hashed anew', async () => {
    const other = chainOf(12, (n) => (n === 5 ? 'else' : String(n)));
    const change = ({ lines }: Made) => (lines[4] = other.lines[4] ?? '');
    expect(await finding(change)).toMatchObject({ damage: 'altered', seq: 5 });
  });

  it('altered: personal data, and personal data that is gone without an erasure', async () => {
    const other = ({ lines }: Made) => (lines[3] = (lines[3] ?? '').replace('ann 4', 'bob 4'));
    expect(await finding(other)).toMatchObject({ damage: 'altered', seq: 4 });
    const gone = ({ lines }: Made) =>
      (lines[3] = (lines[3] ?? '').replace(/"personal":\{[^}]*\}[^}]*\},/, ''));
    expect(await finding(gone)).toMatchObject({ damage: 'altered', seq: 4 });
  });

  it('altered: a record of another tenant', async () => {
    const change = ({ lines }: Made) => (lines[4] = (lines[4] ?? '').replace('acme', 'umbrella'));
    expect(await finding(change)).toMatchObject({ damage: 'altered', seq: 5 });
  });

  it('missing: a record in the middle', async () => {
    expect(await finding(({ lines }) => lines.splice(4, 1))).toMatchObject({ damage: 'missing', seq: 5 });
  });

  it('reordered: two that have changed places, and one that comes twice', async () => {
    const swap = ({ lines }: Made) => lines.splice(4, 2, lines[5] ?? '', lines[4] ?? '');
    expect(await finding(swap)).toMatchObject({ damage: 'reordered', seq: 5 });
    const twice = ({ lines }: Made) => lines.splice(6, 0, lines[2] ?? '');
    expect(await finding(twice)).toMatchObject({ damage: 'reordered', seq: 3 });
  });

  it('truncated tail: by a checkpoint of a record that is not there', async () => {
    expect(await finding(({ lines }) => lines.splice(10))).toMatchObject({
      damage: 'truncated_tail',
      seq: 11,
    });
    expect(await finding(({ lines }) => lines.splice(0))).toMatchObject({ damage: 'truncated_tail', seq: 1 });
  });

  it('missing: a checkpoint that was taken out from among the others', async () => {
    const made = chainOf(12);
    const without = (index: number) => ({ ...made, checkpoints: made.checkpoints.toSpliced(index, 1) });
    expect((await check(without(1))).finding).toMatchObject({ damage: 'missing', seq: 9 });
    // Of the first and the last nobody can tell: the one before may lie in another file, the one behind was never there.
    expect((await check(without(0))).finding).toBeUndefined();
    expect((await check(without(3))).finding).toBeUndefined();
  });

  it('but a checkpoint that is there twice, or that the database did not keep, is no damage', async () => {
    const made = chainOf(9);
    const [first = '', second = '', third = ''] = made.checkpoints;
    const unkept = checkpointLine(checkpoint(6, hashAt(made, 6), 'a'.repeat(64))).trimEnd();
    const kept = [first, second, second, third];
    expect((await check({ ...made, checkpoints: kept })).finding).toBeUndefined();
    const id = checkpointId(JSON.parse(first) as Checkpoint);
    const beside = checkpointLine(checkpoint(5, hashAt(made, 5), id)).trimEnd();
    expect((await check({ ...made, checkpoints: [first, beside, second, third] })).finding).toBeUndefined();
    expect((await check({ ...made, checkpoints: [first, unkept] })).finding).toMatchObject({
      damage: 'missing',
    });
  });

  it('forked: a history that was written anew from a record on, and one that goes on in two ways', async () => {
    const other = chainOf(12, (n) => (n >= 5 ? 'else' : String(n)));
    expect(await finding(({ lines }) => lines.splice(0, 12, ...other.lines))).toMatchObject({
      damage: 'forked',
      seq: 6,
    });
    const both = ({ lines }: Made) => lines.splice(8, 0, ...other.lines.slice(4, 8));
    expect(await finding(both)).toMatchObject({ damage: 'forked', seq: 5 });
  });

  it('bad signature: a checkpoint that was changed, made with another key, or cut short', async () => {
    const bad = { damage: 'bad_signature', seq: 6 };
    const { privateKey: foreign } = generateKeyPairSync('ed25519');
    const changed = checkpoint(6, 'e'.repeat(64));
    const signature = { ...checkpoint(6, hashAt(whole, 6)), signature: changed.signature };
    for (const line of [
      checkpointLine(signature),
      checkpointLine(checkpoint(6, hashAt(whole, 6), '', foreign)),
      checkpointLine({ ...checkpoint(6, hashAt(whole, 6), '', foreign), key: keyIdOf(publicKey) }),
    ])
      expect(await finding(({ checkpoints }) => (checkpoints[1] = line.trimEnd()))).toMatchObject(bad);
    const cut = ({ checkpoints }: Made) => (checkpoints[1] = (checkpoints[1] ?? '').slice(0, -10));
    expect(await finding(cut)).toMatchObject({ damage: 'bad_signature' });
  });
});

const change = fc.oneof(
  fc.record({ what: fc.constant('byte'), at: fc.nat(), to: fc.integer({ min: 32, max: 126 }) }),
  fc.record({
    what: fc.constantFrom('remove', 'repeat', 'swap', 'insert', 'space'),
    at: fc.nat(),
    to: fc.nat(),
  }),
);

it('any single change of a chain that has a checkpoint of its last record is found', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), change, async (thirds, { what, at, to }) => {
      const made = chainOf(3 * thirds);
      const before = made.lines.join('\n');
      const [one, other] = [at % made.lines.length, to % made.lines.length];
      const line = made.lines[one] ?? '';
      const column = to % line.length;
      if (what === 'byte') {
        const place = (at >> 4) % line.length;
        made.lines[one] = line.slice(0, place) + String.fromCharCode(to) + line.slice(place + 1);
      } else if (what === 'remove') made.lines.splice(one, 1);
      else if (what === 'repeat') made.lines.splice(other, 0, line);
      else if (what === 'insert') made.lines.splice(other, 0, '{}');
      else if (what === 'space') made.lines[one] = `${line.slice(0, column)} ${line.slice(column)}`;
      else [made.lines[one], made.lines[other]] = [made.lines[other] ?? '', line];
      fc.pre(made.lines.join('\n') !== before);
      expect((await check(made)).finding).toBeDefined();
    }),
    { numRuns: 500 },
  );
});

it('any single change of a checkpoint is found', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(3), fc.nat(), fc.integer({ min: 32, max: 126 }), async (which, at, to) => {
      const made = { lines: whole.lines, checkpoints: [...whole.checkpoints] };
      const line = made.checkpoints[which] ?? '';
      const place = at % line.length;
      made.checkpoints[which] = line.slice(0, place) + String.fromCharCode(to) + line.slice(place + 1);
      fc.pre(made.checkpoints[which] !== line);
      expect((await check(made)).finding).toBeDefined();
    }),
    { numRuns: 500 },
  );
});
