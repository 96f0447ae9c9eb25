// The sandbox of a gateway that may open few files: it stands all the same, or says that this is what it lacks.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RUNGS } from '../helpers/rungs.ts';

const FIXTURE = resolve(import.meta.dirname, '../fixtures/sandbox/few-files.ts');
/** What whoever runs this test has left open is not what it is about. */
const CLOSE_OTHERS = 'for fd in /proc/$$/fd/*; do fd=${fd##*/}; [ "$fd" -le 2 ] || eval "exec $fd>&-"; done;';
/** Of Node itself, and of one program that is started. */
const FEW = 120;

interface Found {
  readonly backend: string;
  readonly shortage?: string;
  readonly refused: readonly { readonly why: string }[];
  readonly said: string;
}

/** `first`: what the shell does before the limit is in force. */
function under(limit: number, rung: string, first = ''): Found {
  // Both limits: a process that is not root can raise neither again.
  const script = `${CLOSE_OTHERS} ${first} ulimit -n ${limit}; exec "$0" "$@"`;
  const asked = spawnSync('/bin/bash', ['-c', script, process.execPath, FIXTURE, rung], { encoding: 'utf8' });
  expect(asked.stderr).toBe('');
  return JSON.parse(asked.stdout) as Found;
}

describe.each(RUNGS)('few open files, on the rung %s', (rung) => {
  it('are as few in the sandbox, which stands', () => {
    const found = under(FEW, rung);
    expect(found).toMatchObject({ refused: [], said: String(FEW) });
    expect(found.shortage).toBeUndefined();
    expect(found.backend).not.toBe('none');
  });

  it('of which a descriptor that is given to the gateway takes a higher number are told as that, and nothing runs', () => {
    const { backend, refused, shortage, said } = under(FEW, rung, 'exec 200</dev/null;');
    expect(backend).toBe('none');
    expect(shortage).toContain('the limit of open files');
    expect(refused).toMatchObject([{ why: expect.stringContaining('descriptor 200') }]);
    expect(said).toContain('The sandbox could not be tried: the limit of open files');
  });
});
