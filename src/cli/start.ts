// `ute` on a Node that is new enough: hands the process to `run`.
import { text } from 'node:stream/consumers';
import { run } from './run.ts';

// Whoever reads the output may have had enough of it, such as `head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
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
