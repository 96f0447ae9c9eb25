// `ute validate`: loads tools with the gateway's own code and settings, and tells what it would refuse.
import { relative, resolve } from 'node:path';
import type { Command } from 'commander';
import type { Problem } from '../../contract/tool/loaded-tools.ts';
import { assumeDemoUpstream } from '../../app/demo/demo-upstream.ts';
import { describeProblem } from '../../lib/text/describe-problem.ts';
import type { CliIo } from '../cli-io.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';

export function addValidateCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  program
    .command('validate [paths...]')
    .summary('check files of tools')
    .description(
      'Loads tools as the gateway would with the same settings (config/gateway.yaml, UTE_CONFIG, UTE_TOOLS and the other\n' +
        'variables), and serves nobody: what the gateway refuses is refused in the same words. With paths, those files or\n' +
        'folders are loaded instead of what the settings name. Ends with 1 when there are problems.',
    )
    .option('--config <file>', 'a gateway.yaml, instead of UTE_CONFIG')
    .option('--online', 'ask the network, too: its loaders, MCP servers and databases')
    .option('--json', 'print JSON')
    .action(async (paths: string[], options: ValidateOptions) => {
      finish(await validate(paths, options, io));
    });
}

interface ValidateOptions {
  readonly config?: string;
  readonly online?: true;
  readonly json?: true;
}

async function validate(paths: readonly string[], options: ValidateOptions, io: CliIo): Promise<ExitCode> {
  const { tools, problems, skipped, warnings, advice, moreAdvice } = await check(paths, options, io);
  const ok = problems.length === 0;
  if (options.json === true) {
    const more = {
      ...(skipped.length > 0 && { skipped }),
      ...(warnings.length > 0 && { warnings }),
      ...(advice.length > 0 && { advice, more_advice: moreAdvice }),
    };
    io.stdout(`${JSON.stringify({ ok, tools, problems, ...more }, null, 2)}\n`);
    return ok ? EXIT.ok : EXIT.failed;
  }
  for (const what of skipped) io.stdout(`skipped: ${what} asks the network; --online includes it\n`);
  for (const warning of [...warnings, ...advice]) io.stdout(`warning: ${describeProblem(warning)}\n`);
  if (moreAdvice > 0) io.stdout(`warning: model providers refuse ${moreAdvice} more parts of tools\n`);
  if (ok) io.stdout(`ok: ${tools} ${tools === 1 ? 'tool' : 'tools'}\n`);
  else for (const problem of problems) io.stdout(`${describeProblem(problem)}\n`);
  return ok ? EXIT.ok : EXIT.failed;
}

interface Checked {
  readonly tools: number;
  readonly problems: readonly Problem[];
  /** What was left out because it asks the network; loaders with their place in gateway.yaml. */
  readonly skipped: readonly string[];
  readonly warnings: readonly Problem[];
  readonly advice: readonly Problem[];
  readonly moreAdvice: number;
}

/** Loads the gateway's own parts only now: no other command needs them. */
async function check(
  paths: readonly string[],
  { config, online }: ValidateOptions,
  io: CliIo,
): Promise<Checked> {
  const [{ allFaultsOf, validateTools }, { loadSettings }, { SettingsError }] = await Promise.all([
    import('../../app/gateway/validate-tools.ts'),
    import('../../settings/load-settings.ts'),
    import('../../settings/problems/settings-error.ts'),
  ]);
  assumeDemoUpstream();
  const seen = (problem: Problem) => seenFrom(io.cwd, problem);
  try {
    const env = config === undefined ? io.env : { ...io.env, UTE_CONFIG: config };
    const said = allFaultsOf(() => loadSettings(env, io.cwd));
    const { problems, warnings, advice, ...found } = await validateTools(
      paths.length === 0 ? said : { ...said, loaders: [filesOf(paths, io.cwd)] },
      online === true,
    );
    return {
      ...found,
      problems: problems.map(seen),
      warnings: warnings.map(seen),
      advice: advice.map(seen),
    };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return {
      tools: 0,
      problems: error.problems.map(seen),
      warnings: [],
      skipped: [],
      advice: [],
      moreAdvice: 0,
    };
  }
}

/** On a command line, paths start where it was written. */
function filesOf(paths: readonly string[], cwd: string) {
  return { type: 'yaml-file', paths: paths.map((path) => resolve(cwd, path)) };
}

/** Files below the current folder by their short names, as compilers write them. */
function seenFrom(cwd: string, problem: Problem): Problem {
  const short = relative(cwd, problem.file);
  return short === '' || short.startsWith('..') ? problem : { ...problem, file: short };
}
