// `ute approvals delegate`, `delegations` and `revoke-delegation`: who votes for whom, on a running gateway.
import type { Command } from 'commander';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import type { CliIo } from '../cli-io.ts';
import { asObject } from '../gateway/gateway-answer.ts';
import { GatewayClient, type GatewayOptions } from '../gateway/gateway-client.ts';
import { table } from '../table.ts';

interface JsonOption extends GatewayOptions {
  readonly json?: true;
}

interface DelegateOptions extends JsonOption {
  readonly until: string;
  readonly from?: string;
  readonly groups?: string;
}

const PATH = '/v1/approvals/delegations';
const HEAD = ['ID', 'FROM', 'TO', 'GROUPS', 'STARTS', 'ENDS'] as const;

export function addDelegationCommands(
  add: (usage: string, summary: string) => Command,
  io: CliIo,
  tell: (text: string, value: JsonValue, options: JsonOption) => void,
): void {
  add('delegate <user>', 'hand your vote in groups of approvers to another person for a while')
    .requiredOption('--until <time>', 'when it ends, such as 2027-01-31T00:00:00Z')
    .option('--from <time>', 'when it begins; now when left out')
    .option('--groups <names>', 'groups with commas between them; all that you are in when left out')
    .action(async (to: string, options: DelegateOptions) => {
      const { until, from, groups } = options;
      const gateway = await GatewayClient.open(options, io);
      const body = {
        to,
        until,
        ...(from !== undefined && { from }),
        ...(groups !== undefined && { groups: groups.split(',').map((name) => name.trim()) }),
      };
      const made = asObject(await gateway.send('POST', PATH, body));
      tell(table(HEAD, [rowOf(made)]), made, options);
    });
  add('delegations', 'list who votes for whom').action(async (options: JsonOption) => {
    const gateway = await GatewayClient.open(options, io);
    const found = asObject(await gateway.get(PATH))['delegations'];
    const listed = Array.isArray(found) ? found.filter(isJsonObject) : [];
    tell(table(HEAD, listed.map(rowOf)), listed, options);
  });
  add('revoke-delegation <id>', 'take a vote back').action(async (id: string, options: JsonOption) => {
    const gateway = await GatewayClient.open(options, io);
    await gateway.send('DELETE', `${PATH}/${encodeURIComponent(id)}`);
    tell('revoked\n', { id, revoked: true }, options);
  });
}

function rowOf(delegation: JsonObject): readonly string[] {
  const {
    id,
    from_user: from,
    to_user: to,
    approver_groups: groups,
    starts_at: starts,
    ends_at: ends,
  } = delegation;
  return [
    id,
    from,
    to,
    Array.isArray(groups) ? groups.filter((name) => typeof name === 'string').join(', ') : '',
    starts,
    ends,
  ].map((value) => (typeof value === 'string' ? value : ''));
}
