// `npm run check`: all that a change must pass, in two lanes side by side. Each step's output comes whole, when it
// has ended, with its time; ends with 1 and names the steps that failed.
import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** In a lane, one after another: what has been type-checked is compiled without checking it again, and then asked. */
const LANES = [
  ['types', 'build -- --noCheck', 'generate:check', 'test:unit', 'deps'],
  ['format:check', 'lint'],
];
/**
 * The compiler and the type-aware linter end before what they collect is needed: without collecting, a quarter of their time is
 * left out. Beyond a limit they collect all the same.
 */
const ENV = { GOGC: 'off', GOMEMLIMIT: '3GiB', ...process.env };
const failed = [];

async function runLane(steps) {
  for (const step of steps) {
    const startedAt = performance.now();
    const { code, output } = await run(['run', '--silent', ...step.split(' ')]);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    if (code !== 0) failed.push(step);
    process.stdout.write(`${output}${code === 0 ? 'passed' : 'FAILED'}  ${step}  ${seconds} s\n\n`);
  }
}

function run(args) {
  const child = spawn('npm', args, {
    cwd: join(import.meta.dirname, '..'),
    env: ENV,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output: Buffer.concat(chunks).toString() }));
  });
}

await Promise.all(LANES.map(runLane));
if (failed.length > 0) {
  process.stderr.write(`failed: ${failed.join(', ')}\n`);
  process.exit(1);
}
