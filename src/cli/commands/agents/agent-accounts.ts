// `ute agents connect`, `accounts` and `disconnect`: the accounts at OAuth providers that agents act with.
import type { Command } from 'commander';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts';
import type { CliIo } from '../../cli-io.ts';
import { asObject } from '../../gateway/gateway-answer.ts';
import { GatewayClient, type GatewayOptions } from '../../gateway/gateway-client.ts';
import { table } from '../../table.ts';

interface AccountOptions extends GatewayOptions {
  readonly json?: true;
  readonly tenant?: string;
}

type Add = (usage: string, summary: string) => Command;
type Tell = (text: string, value: JsonValue, options: AccountOptions) => void;

const ACCOUNTS = ['PROVIDER', 'STATE', 'SCOPES', 'MISSING', 'ENDS', 'PROBLEM'] as const;

export function addAccounts(add: Add, io: CliIo, tell: Tell): void {
  add('accounts <agent>', 'the accounts that an agent is connected to, without tokens').action(
    async (agent: string, options: AccountOptions) => {
      const gateway = await GatewayClient.open(options, io);
      const { connections } = asObject(await gateway.get(pathOf(agent), whose(options)));
      const listed = Array.isArray(connections) ? connections.filter(isJsonObject) : [];
      tell(table(ACCOUNTS, listed.map(accountRow)), listed, options);
    },
  );
  add('connect <agent> <provider>', 'a link by which a human connects an agent to an account').action(
    async (agent: string, provider: string, options: AccountOptions) => {
      const gateway = await GatewayClient.open(options, io);
      const path = pathOf(agent, provider, 'authorize');
      const link = asObject(await gateway.send('POST', path, undefined, whose(options)));
      const note = `Good until ${word(link['expires_at'])}, for one connection. Whoever opens it chooses the account.`;
      tell(`${word(link['url'])}\n${note}\n`, link, options);
    },
  );
  add(
    'disconnect <agent> <provider>',
    'delete the tokens of an account, and revoke them at the provider',
  ).action(async (agent: string, provider: string, options: AccountOptions) => {
    const gateway = await GatewayClient.open(options, io);
    const path = pathOf(agent, provider);
    const ended = asObject(await gateway.send('DELETE', path, undefined, whose(options)));
    const revoked =
      ended['revoked'] === true ? 'and revoked there' : 'and not revoked there: they end by themselves';
    tell(`the tokens of ${agent} at ${provider} are deleted, ${revoked}\n`, ended, options);
  });
}

function accountRow(account: JsonObject): readonly string[] {
  const { provider, state, scopes, missing_scopes: missing, expires_at: ends, problem } = account;
  return [word(provider), word(state), words(scopes), words(missing), word(ends), word(problem)];
}

function words(value: JsonValue | undefined): string {
  return Array.isArray(value) ? value.map(word).join(',') : '';
}

function word(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function whose({ tenant }: AccountOptions) {
  return { tenant };
}

function pathOf(agent: string, ...rest: readonly string[]): string {
  return ['/v1/agents', agent, 'oauth', ...rest]
    .map((part, index) => (index === 0 ? part : encodeURIComponent(part)))
    .join('/');
}
