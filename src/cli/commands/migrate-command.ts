// `ute migrate`: brings the database that the settings name up to date, for deployments that do not let the gateway do it.
import type { Command } from 'commander';
import { postgresSettings } from '../../infra/postgres/own-database.ts';
import { ownSettings } from '../own-settings.ts';
import type { CliIo } from '../cli-io.ts';
import { CliFailure, EXIT, type ExitCode } from '../exit-code.ts';
import { QUIET_LOG } from '../quiet-log.ts';

export function addMigrateCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  program
    .command('migrate')
    .summary('bring the database up to date')
    .description(
      'Brings the PostgreSQL of UTE_DATABASE_URL (or database.url) up to date, as the role of UTE_DATABASE_OWNER_URL (or database.owner_url) where that is set, and gives the role of the former its rights. Safe to run from several places at once.',
    )
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: true }) => {
      const done = await migrate(io);
      if (json === true) io.stdout(`${JSON.stringify({ migrations: done }, null, 2)}\n`);
      else io.stdout(done.length === 0 ? 'up to date\n' : `${done.join('\n')}\n`);
      finish(EXIT.ok);
    });
}

async function migrate(io: CliIo): Promise<readonly string[]> {
  const { database } = ownSettings(io);
  const { url } = database;
  if (url === undefined)
    throw new CliFailure(
      EXIT.usage,
      'there is no database.url and no UTE_DATABASE_URL: an embedded database brings itself up to date',
    );
  const { Database } = await import('../../infra/postgres/database.ts');
  return Database.migrateOnly({ ...postgresSettings(database, url), migrate: true }, QUIET_LOG);
}
