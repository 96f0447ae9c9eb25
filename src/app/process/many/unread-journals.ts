// Journals that no process of this start reads: of a start with another number of processes.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isSegment } from '../../../infra/audit/segment-folder.ts';
import type { Log } from '../../../ports/telemetry/log.ts';
import type { Settings } from '../../../settings/settings-schema.ts';

/** Said at every start for as long as records lie there: they are in no audit trail, and nothing else would tell. */
export function warnOfUnreadJournals({ data_dir: dataDir }: Settings, count: number, log: Log): void {
  const folder = join(dataDir, 'processes');
  const others = namesIn(folder).filter(
    (name) => /^[1-9]\d*$/.test(name) && (count === 1 || Number(name) > count),
  );
  const folders = others
    .toSorted((one, other) => Number(one) - Number(other))
    .map((name) => join(folder, name, 'audit'));
  // Of a gateway of one process.
  if (count > 1) folders.unshift(join(dataDir, 'audit'));
  const journals = folders.filter((journal) => namesIn(journal).some(isSegment));
  if (journals.length > 0)
    log.warn(
      { journals },
      'journals of audit records that no process reads: start once with as many processes as wrote them',
    );
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // There is none, or it cannot be read: then there is nothing to name.
    return [];
  }
}
