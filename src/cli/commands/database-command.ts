// `ute database export` and `import`: the gateway's records as a folder of files, from any of its databases into any other.
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { MovedTable } from '../../infra/postgres/export-database.ts';
import { holdsDatabase } from '../../infra/embedded-postgres/holds-database.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import { ownSettings } from '../own-settings.ts';
import type { CliIo } from '../cli-io.ts';
import { CliFailure, EXIT, type ExitCode } from '../exit-code.ts';
import { QUIET_LOG } from '../quiet-log.ts';

export function addDatabaseCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  const database = program.command('database').summary("move the gateway's records");
  for (const verb of ['export', 'import'] as const) {
    database
      .command(`${verb} <folder>`)
      .summary(SUMMARIES[verb])
      .description(DESCRIPTIONS[verb])
      .option('--json', 'print JSON')
      .action(async (folder: string, { json }: { json?: true }) => {
        const tables = (await move(verb, resolve(io.cwd, folder), io)).map(({ name, rows }) => ({
          name,
          rows,
        }));
        if (json === true) io.stdout(`${JSON.stringify({ tables }, null, 2)}\n`);
        else io.stdout(tables.map(({ name, rows }) => `${name}: ${rows} rows\n`).join(''));
        finish(EXIT.ok);
      });
  }
}

const SUMMARIES = { export: 'write the records into a folder', import: 'read the records of a folder' };
const DESCRIPTIONS = {
  export:
    'Writes every table of the embedded database, or of the one that database.url names, into a new folder. The gateway that holds an embedded database must be stopped.',
  import:
    'Reads what was exported, of this version or an older one, into a database that holds nothing. All of it or nothing.',
};

async function move(verb: 'export' | 'import', folder: string, io: CliIo): Promise<readonly MovedTable[]> {
  const settings = ownSettings(io);
  if (verb === 'export') refuseNothing(settings);
  const [{ databaseSettings, embeddedPostgres }, { exportDatabase, importDatabase }] = await Promise.all([
    import('../../infra/postgres/own-database.ts'),
    import('../../infra/postgres/export-database.ts'),
  ]);
  const server = embeddedPostgres(settings, QUIET_LOG);
  const own = databaseSettings(settings, server);
  try {
    return await (verb === 'export' ? exportDatabase : importDatabase)(own, folder, QUIET_LOG);
  } finally {
    await server.stop();
  }
}

/** A database that was made for the export would be empty, and its copy be taken for a backup. */
function refuseNothing({ data_dir: dataDir, database }: Settings): void {
  if (database.url !== undefined || holdsDatabase(dataDir)) return;
  throw new CliFailure(
    EXIT.usage,
    `there is no embedded database in ${dataDir}, and database.url names none: run it in the folder of the gateway, or with its UTE_CONFIG or UTE_DATA_DIR`,
  );
}
