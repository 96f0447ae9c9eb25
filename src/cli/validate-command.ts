// `ute validate`: checks files of tools with the same code as the server, without starting it.
import { relative } from 'node:path';
import type { Command } from 'commander';
import type { LoadedTools, Problem } from '../contract/loaded-tools.ts';
import { DEMO_URL_VARIABLE } from '../demo-upstream.ts';
import { describeProblem } from '../lib/describe-problem.ts';
import type { Settings } from '../settings/settings-schema.ts';
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
      'a gateway.yaml: its custom executors and extensions are known, and without paths, its loaders are used',
    )
    .option('--online', 'with --config: use the loaders that ask the network, too')
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
  const { tools, problems, skipped, warnings } = await check(paths, options, io);
  const ok = problems.length === 0;
  if (options.json === true) {
    const more = { ...(skipped.length > 0 && { skipped }), ...(warnings.length > 0 && { warnings }) };
    io.stdout(`${JSON.stringify({ ok, tools, problems, ...more }, null, 2)}\n`);
    return ok ? EXIT.ok : EXIT.failed;
  }
  for (const loader of skipped) io.stdout(`skipped: ${loader} asks the network; --online includes it\n`);
  for (const warning of warnings) io.stdout(`warning: ${describeProblem(warning)}\n`);
  if (ok) io.stdout(`ok: ${tools} ${tools === 1 ? 'tool' : 'tools'}\n`);
  else for (const problem of problems) io.stdout(`${describeProblem(problem)}\n`);
  return ok ? EXIT.ok : EXIT.failed;
}

interface Checked {
  readonly tools: number;
  readonly problems: readonly Problem[];
  /** Loaders that were left out: their place in gateway.yaml and their type. */
  readonly skipped: readonly string[];
  readonly warnings: readonly Problem[];
}

/** Loads the shelves only now: no other command needs the executors. */
async function check(
  paths: readonly string[],
  { config, online }: ValidateOptions,
  io: CliIo,
): Promise<Checked> {
  const [{ validateLoaded }, { declarationsOf, executorsReady }, { newValidationCache }, { specRules }] =
    await Promise.all([
      import('../registry/spec-validation.ts'),
      import('../registry/executors-ready.ts'),
      import('../registry/validation-cache.ts'),
      import('../registry-rules.ts'),
    ]);
  // The gateway sets it when it starts the demo server; here any address will do.
  process.env[DEMO_URL_VARIABLE] ??= 'http://127.0.0.1:1';
  const own = config === undefined ? undefined : await ownParts(config, io);
  const { loaded, skipped } =
    paths.length > 0 || own === undefined
      ? { loaded: [await loadFiles(paths.length > 0 ? paths : [DEFAULT_PATH], io)], skipped: [] }
      : await loadAll(own.settings, online === true);
  const rules = specRules(own?.extensions, own?.executors, own?.settings.extensions);
  await executorsReady(declarationsOf(loaded), rules);
  const { tools, problems } = validateLoaded(loaded, rules, newValidationCache());
  const warnings = loaded.flatMap((each) => each.warnings ?? []);
  const seen = (problem: Problem) => seenFrom(io.cwd, problem);
  return { tools: tools.length, problems: problems.map(seen), skipped, warnings: warnings.map(seen) };
}

async function loadFiles(paths: readonly string[], io: CliIo): Promise<LoadedTools> {
  const [{ SystemClock }, { yamlFileLoader }] = await Promise.all([
    import('../infra/system-clock.ts'),
    import('../loaders/yaml-file/index.ts'),
  ]);
  const open = yamlFileLoader.create({ clock: new SystemClock(), log: QUIET_LOG, configDir: io.cwd });
  return open({ paths: [...paths] }).load(new AbortController().signal);
}

/** What the loaders of gateway.yaml bring; those that ask the network, only where that is wanted. */
async function loadAll(settings: Settings, online: boolean) {
  const [{ namedLoaders }, { loaderPorts }] = await Promise.all([
    import('../open-loaders.ts'),
    import('../loader-ports.ts'),
  ]);
  const named = namedLoaders(settings.loaders);
  const isLeftOut = ({ plugin, options }: (typeof named)[number]) =>
    !online && plugin.needsNetwork?.(options) === true;
  const skipped = named.flatMap((each, index) =>
    isLeftOut(each) ? [`loaders.${index} (${each.plugin.name})`] : [],
  );
  const ports = await loaderPorts(settings, QUIET_LOG);
  try {
    const loaders = named
      .filter((each) => !isLeftOut(each))
      .map(({ plugin, options }) => plugin.create(ports.needs)(options));
    const loaded = await Promise.all(loaders.map((loader) => loader.load(new AbortController().signal)));
    // A loader gives back what it holds when its watch ends.
    for (const loader of loaders) await loader.watch?.(() => {}, AbortSignal.abort());
    return { loaded, skipped };
  } finally {
    await ports.close();
  }
}

/** What gateway.yaml says, and what it adds to the shelves. Runs the operator's modules, as the gateway does. */
async function ownParts(config: string, io: CliIo) {
  const [{ loadSettings }, { loadCustomExecutors }, { loadCustomExtensions }] = await Promise.all([
    import('../settings/load-settings.ts'),
    import('../custom-executors.ts'),
    import('../custom-extensions.ts'),
  ]);
  const settings = loadSettings({ ...io.env, UTE_CONFIG: config }, io.cwd);
  const extensions = await loadCustomExtensions(settings.custom_extensions);
  return {
    settings,
    executors: await loadCustomExecutors(settings.custom_executors),
    extensions: extensions.map(({ plugin }) => plugin),
  };
}

/** Files below the current folder by their short names, as compilers write them. */
function seenFrom(cwd: string, problem: Problem): Problem {
  const short = relative(cwd, problem.file);
  return short === '' || short.startsWith('..') ? problem : { ...problem, file: short };
}
