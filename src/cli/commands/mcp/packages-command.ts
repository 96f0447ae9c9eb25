// `ute packages`: the packages of MCP servers: installed ahead of a start, and which there are.
import type { Command } from 'commander';
import { assumeDemoUpstream } from '../../../app/demo/demo-upstream.ts';
import type { CliIo } from '../../cli-io.ts';
import { EXIT, type ExitCode } from '../../exit-code.ts';
import { ownSettings } from '../../own-settings.ts';
import { QUIET_LOG } from '../../quiet-log.ts';

export function addPackagesCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  const packages = program
    .command('packages')
    .summary('install packages of MCP servers')
    .description(
      'The packages that MCP servers are started from: `package:` of loaders and connections, and npx and uvx.',
    );
  packages
    .command('install')
    .summary('install what the settings name')
    .description(
      'Installs the packages that loaders of gateway.yaml and connections in files of tools name, where they are not yet, as\n' +
        'the first start would. The folder of packages may be copied to a gateway without a network. Ends with 1 where one\n' +
        'cannot be installed.',
    )
    .action(async () => finish(await install(io)));
  packages
    .command('list')
    .summary('list what is installed')
    .description('Lists installed packages, when they were installed and how many came with them.')
    .option('--json', 'print JSON, with all that came with them')
    .action(async ({ json }: { json?: true }) => finish(await list(io, json === true)));
}

async function install(io: CliIo): Promise<ExitCode> {
  const { namedPackages, openPackages } = await import('../../../app/gateway/own-packages.ts');
  const settings = ownSettings(io);
  assumeDemoUpstream();
  const { store, close } = openPackages(settings, QUIET_LOG);
  let code: ExitCode = EXIT.ok;
  try {
    const { named, problems } = await namedPackages(settings);
    for (const { names, asked, confined } of named) {
      try {
        await store.ready(asked, confined);
        io.stdout(`${names}: installed\n`);
      } catch (error) {
        code = EXIT.failed;
        io.stdout(`${error instanceof Error ? error.message : String(error)}\n`);
      }
    }
    for (const problem of problems) io.stderr(`${problem}\n`);
    if (named.length === 0) io.stdout('no loader and no connection names a package\n');
    return problems.length === 0 ? code : EXIT.failed;
  } finally {
    await close();
  }
}

async function list(io: CliIo, json: boolean): Promise<ExitCode> {
  const { openPackages } = await import('../../../app/gateway/own-packages.ts');
  const { store, close } = openPackages(ownSettings(io), QUIET_LOG);
  try {
    const found = await store.list();
    if (json) io.stdout(`${JSON.stringify(found, null, 2)}\n`);
    else
      for (const { packages, scripts, installed_at: at, contents } of found)
        io.stdout(
          `${packages.join(', ')}  ${at}  ${contents.length} in all${scripts ? ', scripts allowed' : ''}\n`,
        );
    return EXIT.ok;
  } finally {
    await close();
  }
}
