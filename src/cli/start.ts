// `ute` on a Node that is new enough: hands the process to `run`.
import { text } from 'node:stream/consumers';
import { run } from './run.ts';

process.exitCode = await run(process.argv.slice(2), {
  stdout: (chunk) => process.stdout.write(chunk),
  stderr: (chunk) => process.stderr.write(chunk),
  readStdin: () => text(process.stdin),
  stdin: process.stdin,
  fetch,
  env: process.env,
  cwd: process.cwd(),
});
