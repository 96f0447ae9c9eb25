// Unit tests and suites, or those of the files that are named. A file whose process was ended by a signal has no verdict, neither
// passed nor failed: it is run once more, which is said, and what it says then counts. Everything else that fails, fails.
import { startVitest } from 'vitest/node';

const ENDED = /^Worker exited unexpectedly with signal (\w+).* while running test file (.+)$/s;

/** @param {readonly string[]} files */
async function run(files) {
  const vitest = await startVitest('test', [...files], { watch: false, project: ['unit', 'suites'] });
  const errors = vitest.state.getUnhandledErrors();
  const ended = errors.flatMap((error) => {
    const [, signal, file] = ENDED.exec(reasonOf(error)) ?? [];
    return signal === undefined || file === undefined ? [] : [{ signal, file: file.trim() }];
  });
  const modules = vitest.state.getFiles();
  // A test that failed before the signal came has failed.
  const hasFailed =
    modules.length === 0 ||
    ended.length < errors.length ||
    vitest.state.getCountOfFailedTests() > 0 ||
    modules.some(({ result }) => result?.state === 'fail');
  await vitest.close();
  return { hasFailed, ended };
}

/** @param {unknown} error */
function reasonOf(error) {
  const { message = '', cause } = /** @type {{ message?: string, cause?: { message?: string } }} */ (error);
  return cause?.message ?? message;
}

const first = await run(process.argv.slice(2));
let hasFailed = first.hasFailed;
if (!hasFailed && first.ended.length > 0) {
  for (const { signal, file } of first.ended)
    process.stderr.write(`\n${file}: its process was ended by ${signal}; it is run once more\n`);
  const second = await run(first.ended.map(({ file }) => file));
  hasFailed = second.hasFailed || second.ended.length > 0;
}
process.exitCode = hasFailed ? 1 : 0;
