// The tree of `ute`'s commands: what runs, what completion scripts complete and what the reference lists.
import { Command } from 'commander';
import { VERSION } from '../version.ts';
import type { CliIo } from './cli-io.ts';
import { addAgentsCommand } from './commands/agents/agents-command.ts';
import { addAnalyticsCommand } from './commands/audit/analytics-command.ts';
import { addApprovalsCommand } from './commands/approvals-command.ts';
import { addAuditCommand } from './commands/audit/audit-command.ts';
import { addSuggestionsCommand } from './commands/audit/suggestions-command.ts';
import { addCallCommand } from './commands/call-command.ts';
import { addCompletionCommand } from './commands/completion-command.ts';
import { addDatabaseCommand } from './commands/database-command.ts';
import { addKeyCommand } from './commands/key-command.ts';
import { addKeysCommand } from './commands/keys-command.ts';
import { addExportCommand } from './mcp/export-command.ts';
import { addMcpCommand } from './mcp/mcp-command.ts';
import { addMigrateCommand } from './commands/migrate-command.ts';
import { addPolicyCommand } from './commands/policy-command.ts';
import { addRecordCommand } from './commands/record-command.ts';
import { addReplayCommand } from './commands/replay-command.ts';
import { addSecretsCommand } from './commands/secrets-command.ts';
import { addSessionsCommand } from './commands/sessions-command.ts';
import { addImportCommand } from './commands/mcp/import-command.ts';
import { addPackagesCommand } from './commands/mcp/packages-command.ts';
import { addPacksCommand } from './commands/packs/packs-command.ts';
import { addBuildToolsCommand } from './commands/tools/build-tools-command.ts';
import { addAssignmentsCommand } from './commands/tools/assignments-command.ts';
import { addToolsCommand } from './commands/tools-command.ts';
import { addValidateCommand } from './commands/validate-command.ts';
import { addDiagnoseCommand } from './operations/diagnose-command.ts';
import { addTopCommand } from './operations/top-command.ts';
import type { ExitCode } from './exit-code.ts';

const COMMANDS = [
  addValidateCommand,
  addBuildToolsCommand,
  addToolsCommand,
  addCallCommand,
  addMcpCommand,
  addExportCommand,
  addApprovalsCommand,
  addKeyCommand,
  addKeysCommand,
  addSessionsCommand,
  addPolicyCommand,
  addAgentsCommand,
  addAssignmentsCommand,
  addSecretsCommand,
  addMigrateCommand,
  addDatabaseCommand,
  addAuditCommand,
  addAnalyticsCommand,
  addSuggestionsCommand,
  addRecordCommand,
  addReplayCommand,
  addTopCommand,
  addDiagnoseCommand,
  addImportCommand,
  addPackagesCommand,
  addPacksCommand,
  addCompletionCommand,
];

/** `finish` is told how a command has ended. Throws CommanderError for a usage that is none, and for help and version. */
export function createProgram(io: CliIo, finish: (code: ExitCode) => void): Command {
  const program = new Command('ute')
    .description('The command line of UnifiedToolExecutor.')
    .version(VERSION)
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.stdout(text), writeErr: (text) => io.stderr(text) });
  for (const add of COMMANDS) add(program, io, finish);
  return program;
}
