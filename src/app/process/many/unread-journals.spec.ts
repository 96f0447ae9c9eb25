// Journals of a start with another number of processes are named at the start.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { quietLog } from '../../../../test/helpers/quiet-log.ts';
import type { Settings } from '../../../settings/settings-schema.ts';
import { warnOfUnreadJournals } from './unread-journals.ts';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ute-journals-'));
  for (const journal of ['audit', 'processes/1/audit', 'processes/2/audit', 'processes/10/audit']) {
    mkdirSync(join(dir, journal), { recursive: true });
    writeFileSync(join(dir, journal, '0000000001.jsonl'), '{}\n');
  }
  // One that was read to its end.
  mkdirSync(join(dir, 'processes/11/audit'), { recursive: true });
  // What the database refused is for a human, and no start reads it.
  mkdirSync(join(dir, 'processes/12/audit'), { recursive: true });
  writeFileSync(join(dir, 'processes/12/audit/rejected.jsonl'), '{}\n');
});

afterEach(() => rmSync(dir, { recursive: true }));

function warnedOf(count: number): unknown {
  const warned: object[] = [];
  const log = { ...quietLog, warn: (fields: object) => void warned.push(fields) };
  warnOfUnreadJournals({ data_dir: dir } as Settings, count, log);
  return warned;
}

it.each<[number, readonly string[]]>([
  [1, ['processes/1/audit', 'processes/2/audit', 'processes/10/audit']],
  [2, ['audit', 'processes/10/audit']],
])('%i processes name the journals that none of them reads', (count, journals) => {
  expect(warnedOf(count)).toEqual([{ journals: journals.map((journal) => join(dir, journal)) }]);
});

it('nothing is said where each journal is read', () => {
  rmSync(join(dir, 'audit'), { recursive: true });
  expect(warnedOf(10)).toEqual([]);
});
