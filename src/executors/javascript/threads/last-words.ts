// What a host process says on its own output: read, so that nothing waits in a pipe, and forgotten but for why V8 ended it.
import { finished } from 'node:stream/promises';
import type { ChildProcess } from '../../../ports/egress/process-spawner.ts';

const FATAL = /^.*\b(?:FATAL ERROR|Fatal (?!error in , line)).*$/m;
const MAX_KEPT = 16_384;
const MAX_WORDS = 300;
const WITHIN_MS = 200;

/** Settles once the process is gone; never rejects. Empty: it said nothing of the kind. */
export async function fatalWords({ stdout, stderr, exited }: ChildProcess): Promise<string> {
  let kept = '';
  stdout.resume();
  stderr.on('data', (chunk: Buffer) => {
    kept = (kept + chunk.toString('latin1')).slice(-MAX_KEPT);
  });
  await exited;
  await finished(stderr, { signal: AbortSignal.timeout(WITHIN_MS) }).catch(() => {});
  stdout.destroy();
  stderr.destroy();
  return FATAL.exec(kept)?.[0].trim().slice(0, MAX_WORDS) ?? '';
}
