// The start on a Node that is new enough. Turns on its compile cache before anything else is loaded: a second start is
// faster by a third.
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { leaveThreadsTheirLimits } from './thread-memory.ts';

leaveThreadsTheirLimits();

// Beside the code and not in a shared temporary folder: what lies in it is run.
enableCompileCache(fileURLToPath(new URL('.compile-cache', import.meta.url)));
// As a plain object: the real one asks the system at every look, and the YAML parser looks at every token.
process.env = { ...process.env };
const args = process.argv.slice(2);
const said = args.length === 0 ? undefined : (await import('./command-line.ts')).answerTo(args);
if (said === undefined) await import('./run-process.ts');
else {
  process.stdout.write(said.stdout ?? '');
  process.stderr.write(said.stderr ?? '');
  process.exitCode = said.exitCode;
}
