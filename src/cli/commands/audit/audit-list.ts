// `ute audit list`: the audit records of the tenant of the key, newest first.
import { Option, type Command } from 'commander';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts';
import { AUDIT_KINDS } from '../../../ports/audit-sink.ts';
import type { CliIo } from '../../cli-io.ts';
import { EXIT, type ExitCode } from '../../exit-code.ts';
import { GatewayClient, withGatewayOptions, type GatewayOptions } from '../../gateway/gateway-client.ts';
import { newest, withLimit, type LimitOption } from '../../pages.ts';
import { table } from '../../table.ts';

interface ListOptions extends GatewayOptions, LimitOption {
  readonly json?: true;
  readonly kind?: string;
  readonly call?: string;
  readonly tool?: string;
  readonly outcome?: string;
  readonly principal?: string;
  readonly agent?: string;
  readonly user?: string;
  readonly session?: string;
  readonly from?: string;
  readonly to?: string;
}

const HEAD = ['SEQ', 'AT', 'KIND', 'BY', 'USER', 'WHAT', 'OUTCOME', 'REASON'] as const;

export function addAuditList(audit: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  const list = withGatewayOptions(audit.command('list'))
    .summary('list records, newest first')
    .description('Lists the audit records of the tenant of the key, newest first. The key needs audit:read.')
    .addOption(new Option('--kind <kind>', 'only records of this kind').choices([...AUDIT_KINDS]))
    .option('--call <id>', 'only records of this call')
    .option('--tool <name>', 'only records of this function')
    .option('--outcome <outcome>', 'only records that ended so: ok, or a type of error')
    .option('--principal <id>', 'only records of this credential')
    .option('--agent <name>', 'only records of this agent')
    .option('--user <id>', 'only records of this user')
    .option('--session <id>', 'only records of this session')
    .option('--from <time>', 'only what came in at this time or later, such as 2027-01-31T00:00:00Z')
    .option('--to <time>', 'only what came in before this time');
  withLimit(list)
    .option('--json', 'print JSON instead of a table')
    .action(async (options: ListOptions) => {
      const gateway = await GatewayClient.open(options, io);
      const listing = { path: '/v1/audit', items: 'records', query: filtersOf(options) };
      const found = await newest(gateway, listing, options, io);
      io.stdout(options.json ? `${JSON.stringify(found, null, 2)}\n` : table(HEAD, found.map(rowOf)));
      finish(EXIT.ok);
    });
}

function filtersOf({ call, principal, agent, user, session, kind, tool, outcome, from, to }: ListOptions) {
  return {
    call_id: call,
    principal_id: principal,
    agent_id: agent,
    user_id: user,
    session_id: session,
    kind,
    tool,
    outcome,
    from,
    to,
  };
}

function rowOf(record: JsonObject): readonly string[] {
  const { seq, at, kind, principal_id: by, user_id: user, outcome, reason } = record;
  return [seq, at, kind, by, user, whatOf(record), outcome, reason].map(word);
}

/** The tool; of an act of an operator, what it was and to what. */
function whatOf({ tool, requested_tool: asked, notes }: JsonObject): string {
  if (word(tool) !== '' || word(asked) !== '') return word(tool) || word(asked);
  const { action, target } = isJsonObject(notes) ? notes : {};
  return [action, target].map(word).join(' ').trim();
}

function word(value: JsonValue | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
