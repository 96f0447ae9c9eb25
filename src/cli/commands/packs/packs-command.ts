// `ute packs`: ready-made sets of tools: which there are, and putting one in force.
import { join } from 'node:path';
import type { Command } from 'commander';
import { folderOfPack, ownPacks } from '../../../lib/packs/own-packs.ts';
import { readManifest, type PackManifest } from '../../../lib/packs/pack-manifest.ts';
import { describeProblem } from '../../../lib/text/describe-problem.ts';
import type { CliIo } from '../../cli-io.ts';
import { CliFailure, EXIT, type ExitCode } from '../../exit-code.ts';
import { ownSettings } from '../../own-settings.ts';
import { table } from '../../table.ts';
import { addPack } from './add-pack.ts';

export function addPacksCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  const packs = program
    .command('packs')
    .summary('ready-made sets of tools')
    .description('The packs that come with the gateway. Each is a loader entry: {type: pack, name: …}.');
  packs
    .command('list')
    .summary('list the packs')
    .description('Lists the packs that come with the gateway, and which of them gateway.yaml names.')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: true }) => finish(await list(io, json === true)));
  packs
    .command('add <name>')
    .summary('put a pack in force')
    .description(
      'Adds the pack to the loaders of gateway.yaml (UTE_CONFIG, config/gateway.yaml), which is made where there is none,\n' +
        'if a gateway would start with it, and prints a first call. A gateway that runs takes it with its next start.',
    )
    .option('--without <tool>', 'a tool of it that is left out; may be repeated', more, [])
    .option('--choose <choice=value>', 'one of what the pack lets you choose; may be repeated', more, [])
    .action(async (name: string, said: { without: readonly string[]; choose: readonly string[] }) => {
      const choose = Object.fromEntries(said.choose.map(choiceOf));
      finish(await addPack({ name, without: said.without, choose }, await manifestOf(name), io));
    });
}

/** Throws CliFailure. */
function choiceOf(text: string): readonly [choice: string, value: string] {
  const [, choice, value] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (choice !== undefined && value !== undefined) return [choice, value];
  throw new CliFailure(EXIT.usage, `--choose ${text}: expected a choice and its value, such as search=brave`);
}

function more(tool: string, before: readonly string[]): readonly string[] {
  return [...before, tool];
}

/** Throws CliFailure. */
async function manifestOf(name: string): Promise<PackManifest> {
  const found = folderOfPack(name);
  if ('message' in found) throw new CliFailure(EXIT.failed, found.message);
  const read = await readManifest(join(found.folder, 'pack.yaml'));
  if ('faults' in read) throw new CliFailure(EXIT.failed, read.faults.map(describeProblem).join('\n'));
  return read.manifest;
}

async function list(io: CliIo, json: boolean): Promise<ExitCode> {
  const named = new Set(
    ownSettings(io).loaders.flatMap(({ type, ...said }) => (type === 'pack' ? [said['name']] : [])),
  );
  const packs = await Promise.all(ownPacks().map(manifestOf));
  const rows = packs.map(({ name, summary }) => ({ name, in_force: named.has(name), summary }));
  if (json) io.stdout(`${JSON.stringify(rows, null, 2)}\n`);
  else
    io.stdout(
      table(
        ['name', 'named', 'summary'],
        rows.map(({ name, in_force: isNamed, summary }) => [name, isNamed ? 'yes' : 'no', summary]),
      ),
    );
  return EXIT.ok;
}
