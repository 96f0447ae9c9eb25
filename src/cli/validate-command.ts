// `ute validate`: checks files of tools with the same code as the server, without starting it.
import { relative } from 'node:path';
import type { Command } from 'commander';
import type { Problem } from '../contract/loaded-tools.ts';
import { DEMO_URL_VARIABLE } from '../demo-upstream.ts';
import { describeProblem } from '../lib/describe-problem.ts';
import type { CliIo } from './cli-io.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { QUIET_LOG } from './quiet-log.ts';

const DEFAULT_PATH = 'config/tools.yaml';

export function addValidateCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  program
    .command('validate [paths...]')
    .summary('check files of tools')
    .description(
      `Checks files or folders of tools (default ${DEFAULT_PATH}). Ends with 1 when there are problems.`,
    )
    .option('--json', 'print JSON')
    .action(async (paths: string[], options: { readonly json?: true }) => {
      finish(await validate(paths.length === 0 ? [DEFAULT_PATH] : paths, options.json === true, io));
    });
}

async function validate(paths: readonly string[], asJson: boolean, io: CliIo): Promise<ExitCode> {
  const { tools, problems } = await check(paths, io.cwd);
  const ok = problems.length === 0;
  if (asJson) io.stdout(`${JSON.stringify({ ok, tools, problems }, null, 2)}\n`);
  else if (ok) io.stdout(`ok: ${tools} ${tools === 1 ? 'tool' : 'tools'}\n`);
  else for (const problem of problems) io.stdout(`${describeProblem(problem)}\n`);
  return ok ? EXIT.ok : EXIT.failed;
}

/** Loads the shelves only now: no other command needs the executors. */
async function check(
  paths: readonly string[],
  cwd: string,
): Promise<{ readonly tools: number; readonly problems: readonly Problem[] }> {
  const [{ SystemClock }, { yamlFileLoader }, { validateLoaded }, { newValidationCache }, { specRules }] =
    await Promise.all([
      import('../infra/system-clock.ts'),
      import('../loaders/yaml-file/index.ts'),
      import('../registry/spec-validation.ts'),
      import('../registry/validation-cache.ts'),
      import('../registry-rules.ts'),
    ]);
  // The gateway sets it when it starts the demo server; here any address will do.
  process.env[DEMO_URL_VARIABLE] ??= 'http://127.0.0.1:1';
  const options = yamlFileLoader.optionsSchema.parse({ paths });
  const loader = yamlFileLoader.create({ clock: new SystemClock(), log: QUIET_LOG, configDir: cwd })(options);
  const loaded = await loader.load(new AbortController().signal);
  const { tools, problems } = validateLoaded([loaded], specRules(), newValidationCache());
  return { tools: tools.length, problems: problems.map((problem) => seenFrom(cwd, problem)) };
}

/** Files below the current folder by their short names, as compilers write them. */
function seenFrom(cwd: string, problem: Problem): Problem {
  const short = relative(cwd, problem.file);
  return short === '' || short.startsWith('..') ? problem : { ...problem, file: short };
}
