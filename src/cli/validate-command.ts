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
    .option(
      '--config <file>',
      'a gateway.yaml: its custom executors and extensions are known, and without paths, its yaml-file loaders are used',
    )
    .option('--json', 'print JSON')
    .action(async (paths: string[], options: ValidateOptions) => {
      finish(await validate(paths, options, io));
    });
}

interface ValidateOptions {
  readonly config?: string;
  readonly json?: true;
}

async function validate(
  paths: readonly string[],
  { config, json }: ValidateOptions,
  io: CliIo,
): Promise<ExitCode> {
  const asJson = json === true;
  const { tools, problems } = await check(paths, config, io);
  const ok = problems.length === 0;
  if (asJson) io.stdout(`${JSON.stringify({ ok, tools, problems }, null, 2)}\n`);
  else if (ok) io.stdout(`ok: ${tools} ${tools === 1 ? 'tool' : 'tools'}\n`);
  else for (const problem of problems) io.stdout(`${describeProblem(problem)}\n`);
  return ok ? EXIT.ok : EXIT.failed;
}

interface Checked {
  readonly tools: number;
  readonly problems: readonly Problem[];
}

/** Loads the shelves only now: no other command needs the executors. */
async function check(paths: readonly string[], config: string | undefined, io: CliIo): Promise<Checked> {
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
  const own = config === undefined ? undefined : await ownParts(config, io);
  const sources =
    paths.length > 0 || own === undefined
      ? [{ configDir: io.cwd, options: { paths: paths.length > 0 ? paths : [DEFAULT_PATH] } }]
      : own.loaders.map((options) => ({ configDir: own.configDir, options }));
  const loaded = await Promise.all(
    sources.map(({ configDir, options }) => {
      const open = yamlFileLoader.create({ clock: new SystemClock(), log: QUIET_LOG, configDir });
      return open(yamlFileLoader.optionsSchema.parse(options)).load(new AbortController().signal);
    }),
  );
  const rules = specRules(own?.extensions, own?.executors);
  const { tools, problems } = validateLoaded(loaded, rules, newValidationCache());
  return { tools: tools.length, problems: problems.map((problem) => seenFrom(io.cwd, problem)) };
}

/** What gateway.yaml adds to the shelves, and the files that it loads. Runs the operator's modules, as the gateway does. */
async function ownParts(config: string, io: CliIo) {
  const [{ loadSettings }, { loadCustomExecutors }, { loadCustomExtensions }] = await Promise.all([
    import('../settings/load-settings.ts'),
    import('../custom-executors.ts'),
    import('../custom-extensions.ts'),
  ]);
  const settings = loadSettings({ ...io.env, UTE_CONFIG: config }, io.cwd);
  const extensions = await loadCustomExtensions(settings.custom_extensions);
  const loaders = settings.loaders.filter(({ type }) => type === 'yaml-file');
  return {
    configDir: settings.configDir,
    loaders: loaders.map(({ type: _type, ...options }) => options),
    executors: await loadCustomExecutors(settings.custom_executors),
    extensions: extensions.map(({ plugin }) => plugin),
  };
}

/** Files below the current folder by their short names, as compilers write them. */
function seenFrom(cwd: string, problem: Problem): Problem {
  const short = relative(cwd, problem.file);
  return short === '' || short.startsWith('..') ? problem : { ...problem, file: short };
}
