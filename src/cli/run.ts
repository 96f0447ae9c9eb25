// The `ute` command: reads the command line, runs one command, answers with its exit code.
import { Command, CommanderError } from 'commander';
import { VERSION } from '../version.ts';
import { addAgentsCommand } from './commands/agents-command.ts';
import { addApprovalsCommand } from './commands/approvals-command.ts';
import { addAuditCommand } from './commands/audit-command.ts';
import { addCallCommand } from './commands/call-command.ts';
import type { CliIo } from './cli-io.ts';
import { CliFailure, EXIT, type ExitCode } from './exit-code.ts';
import { addDatabaseCommand } from './commands/database-command.ts';
import { addKeyCommand } from './commands/key-command.ts';
import { addKeysCommand } from './commands/keys-command.ts';
import { addMigrateCommand } from './commands/migrate-command.ts';
import { addPolicyCommand } from './commands/policy-command.ts';
import { addRecordCommand } from './commands/record-command.ts';
import { addReplayCommand } from './commands/replay-command.ts';
import { addSecretsCommand } from './commands/secrets-command.ts';
import { addSessionsCommand } from './commands/sessions-command.ts';
import { addToolsCommand } from './commands/tools-command.ts';
import { addValidateCommand } from './commands/validate-command.ts';

/** `argv` without the program's own name. Never throws: whatever goes wrong is one line on stderr and a code. */
export async function run(argv: readonly string[], io: CliIo): Promise<number> {
  let exitCode: ExitCode = EXIT.ok;
  const program = new Command('ute')
    .description('The command line of UnifiedToolExecutor.')
    .version(VERSION)
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.stdout(text), writeErr: (text) => io.stderr(text) });
  const commands = [
    addValidateCommand,
    addToolsCommand,
    addCallCommand,
    addApprovalsCommand,
    addKeyCommand,
    addKeysCommand,
    addSessionsCommand,
    addPolicyCommand,
    addAgentsCommand,
    addSecretsCommand,
    addMigrateCommand,
    addDatabaseCommand,
    addAuditCommand,
    addRecordCommand,
    addReplayCommand,
  ];
  for (const add of commands) {
    add(program, io, (code) => (exitCode = code));
  }
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    // Help and version end like this too, with code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    io.stderr(`ute: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof CliFailure ? error.exitCode : EXIT.failed;
  }
}
