// `ute approvals`: calls that wait for a human, on a running gateway: list, show, approve, reject.
import { Option, type Command } from 'commander';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { APPROVAL_STATUSES } from '../../ports/approvals/approval-store.ts';
import type { CliIo } from '../cli-io.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { asObject } from '../gateway/gateway-answer.ts';
import { GatewayClient, withGatewayOptions, type GatewayOptions } from '../gateway/gateway-client.ts';
import { newest, withLimit, type LimitOption } from '../pages.ts';
import { table } from '../table.ts';
import { addDelegationCommands } from './delegation-commands.ts';

export interface JsonOption extends GatewayOptions {
  readonly json?: true;
}

interface DecideOptions extends JsonOption {
  readonly comment?: string;
}

const HEAD = ['ID', 'TOOL', 'RISK', 'STATUS', 'APPROVED BY', 'EXPIRES'] as const;

export function addApprovalsCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  const approvals = program
    .command('approvals')
    .summary('calls that wait for a human')
    .description('Calls of a running gateway that wait for a human. Needs the permission approvals:decide.');
  const add = (usage: string, summary: string): Command =>
    withGatewayOptions(approvals.command(usage))
      .summary(summary)
      .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`)
      .option('--json', 'print JSON');
  const tell = (text: string, value: JsonValue, { json }: JsonOption) => {
    io.stdout(json ? `${JSON.stringify(value, null, 2)}\n` : text);
    finish(EXIT.ok);
  };
  withLimit(add('list', 'list them, newest first'))
    .addOption(new Option('--status <status>', 'only those that stand so').choices([...APPROVAL_STATUSES]))
    .action(async (options: JsonOption & LimitOption & { readonly status?: string }) => {
      const gateway = await GatewayClient.open(options, io);
      const query = { status: options.status };
      const found = await newest(gateway, { path: '/v1/approvals', items: 'approvals', query }, options, io);
      tell(table(HEAD, found.map(rowOf)), [...found], options);
    });
  add('show <id>', 'show one: who asked, what would run, who has approved').action(
    async (id: string, options: JsonOption) => {
      const gateway = await GatewayClient.open(options, io);
      const found = asObject(await gateway.get(pathOf(id)));
      tell(shown(found), found, options);
    },
  );
  addDelegationCommands(add, io, tell);
  for (const decision of ['approve', 'reject'] as const)
    add(`${decision} <id>`, `${decision} the call`)
      .option('--comment <text>', 'why; the caller of a rejected call is told')
      .action(async (id: string, options: DecideOptions) => {
        const { comment } = options;
        const gateway = await GatewayClient.open(options, io);
        const body = { decision, ...(comment !== undefined && { comment }) };
        const found = asObject(await gateway.send('POST', `${pathOf(id)}/decision`, body));
        tell(`${outcomeOf(found)}\n`, found, options);
      });
}

function pathOf(id: string): `/${string}` {
  return `/v1/approvals/${encodeURIComponent(id)}`;
}

function rowOf(approval: JsonObject): readonly string[] {
  const { id, tool, risk_level: risk, status, expires_at: expires } = approval;
  return [id, tool, risk, status, countOf(approval), expires].map(textOf);
}

function countOf({ votes, quorum }: JsonObject): string {
  return `${Array.isArray(votes) ? votes.length : 0} of ${typeof quorum === 'number' ? quorum : 1}`;
}

/** The approval of a call that waits at the gateway is used by its decision: the call runs. */
function outcomeOf(approval: JsonObject): string {
  const { status } = approval;
  if (status === 'used') return 'approved: the call, which waited for this, runs now';
  return status === 'pending' ? `pending (${countOf(approval)})` : textOf(status);
}

/** JSON text shows what control characters there are. */
function shown(approval: JsonObject): string {
  const { arguments: args, would, tool_changed: changed, ...rest } = approval;
  const lines = Object.entries(rest)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]);
  return [
    table(['FIELD', 'VALUE'], lines),
    `\narguments\n${JSON.stringify(args, null, 2)}\n`,
    would === null || would === undefined ? '' : `\nwould\n${JSON.stringify(would, null, 2)}\n`,
    changed === true ? '\nThe tool was changed since: this approval cannot be used any more.\n' : '',
  ].join('');
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
