// `ute` on a Node that is new enough: hands the process to `run`.
import { text } from 'node:stream/consumers';
import { run } from './run.ts';

/** As of a program that SIGPIPE has ended, which Node ignores. */
const NOBODY_READS = 141;

// Whoever reads the output may have had enough of it, such as `head`. Never 0: how the command ends is not known by then.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(NOBODY_READS);
});

process.exitCode = await run(process.argv.slice(2), {
  stdout: (chunk) => process.stdout.write(chunk),
  stderr: (chunk) => process.stderr.write(chunk),
  readStdin: () => text(process.stdin),
  stdin: process.stdin,
  fetch,
  env: process.env,
  cwd: process.cwd(),
});
