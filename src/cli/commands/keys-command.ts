// `ute keys`: the API keys in the database of a running gateway: list, create, rotate, expire, revoke.
import { InvalidArgumentError, type Command } from 'commander';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { parseDuration } from '../../lib/text/duration.ts';
import { isTime } from '../arguments.ts';
import type { CliIo } from '../cli-io.ts';
import { CliFailure, EXIT, type ExitCode } from '../exit-code.ts';
import { accepted, asObject } from '../gateway/gateway-answer.ts';
import { GatewayClient, withGatewayOptions, type GatewayOptions } from '../gateway/gateway-client.ts';
import { allPages } from '../pages.ts';
import { table } from '../table.ts';

interface JsonOption extends GatewayOptions {
  readonly json?: true;
}

interface CreateOptions extends JsonOption {
  readonly name: string;
  readonly role: readonly string[];
  readonly tenant?: string;
  readonly tenants?: readonly string[];
  readonly platform?: true;
  readonly agent?: readonly string[];
  readonly user?: string;
  readonly expires?: string;
}

type Add = (usage: string, summary: string) => Command;
/** What was done: as text for people, as a value for programs. */
type Tell = (text: string, value: JsonValue, options: JsonOption) => void;

const DAY_MS = 86_400_000;
const HEAD = ['ID', 'NAME', 'TENANT', 'ROLES', 'USER', 'STATE', 'EXPIRES'] as const;

export function addKeysCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  const keys = program
    .command('keys')
    .summary('API keys in the database of a gateway')
    .description(
      'API keys in the database of a running gateway. A change is in force on every replica within five seconds.',
    );
  const add: Add = (usage, summary) =>
    withGatewayOptions(keys.command(usage))
      .summary(summary)
      .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`)
      .option('--json', 'print JSON instead of a table');
  const tell: Tell = (text, value, { json }) => {
    io.stdout(json ? `${JSON.stringify(value, null, 2)}\n` : text);
    finish(EXIT.ok);
  };
  addList(add, io, tell);
  addCreate(add, io, tell);
  addChanges(add, io, tell);
}

function addList(add: Add, io: CliIo, tell: Tell): void {
  add('list', 'list them; none shows its secret')
    .option('--tenant <name>', 'only keys of this tenant')
    .action(async (options: JsonOption & { readonly tenant?: string }) => {
      const found = await allPages(await GatewayClient.open(options, io), {
        path: '/v1/keys',
        items: 'keys',
        query: { tenant: options.tenant },
      });
      tell(table(HEAD, found.map(rowOf)), [...found], options);
    });
}

function addCreate(add: Add, io: CliIo, tell: Tell): void {
  add('create', 'make a key: its text is shown only now')
    .requiredOption('--name <name>', 'for people: what it is for')
    .requiredOption('--role <name...>', 'agent, admin, platform_admin or a role of auth.roles')
    .option('--tenant <name>', 'whose key it is (default: that of the key that asks)')
    .option('--tenants <name...>', 'of several, or "*" for any: every request names its own')
    .option('--platform', 'of no tenant: it administers the platform, and calls no tools')
    .option('--agent <name...>', 'agents that it may speak for (default: any of the tenant)')
    .option('--user <name>', 'the only user that it may speak for')
    .option('--expires <time>', 'ISO 8601, with a time zone', timeOf)
    .action(async (options: CreateOptions) => {
      const gateway = await GatewayClient.open(options, io);
      const key = asObject(await gateway.send('POST', '/v1/keys', draftOf(options)));
      tell(textOf(key), key, options);
    });
}

function addChanges(add: Add, io: CliIo, tell: Tell): void {
  add('rotate <id>', 'give a key a new secret, shown only now; the one from before is good for a while, too')
    .option('--keep <duration>', 'how long the secret from before is good: 30m, 24h, 0', keepOf, DAY_MS)
    .action(async (id: string, options: JsonOption & { readonly keep: number }) => {
      const gateway = await GatewayClient.open(options, io);
      const body = { keep_previous_ms: options.keep };
      const key = asObject(await gateway.send('POST', `${pathOf(id)}/rotate`, body));
      tell(textOf(key), key, options);
    });
  add('expire <id> <time>', 'have a key end at a time (ISO 8601, with a time zone), or "never"').action(
    async (id: string, time: string, options: JsonOption) => {
      const body = { expires_at: time === 'never' ? null : expiryOf(time) };
      const gateway = await GatewayClient.open(options, io);
      const key = asObject(await gateway.send('PATCH', pathOf(id), body));
      tell(textOf(key), key, options);
    },
  );
  add('revoke <id>', 'end a key for good, at once').action(async (id: string, options: JsonOption) => {
    const gateway = await GatewayClient.open(options, io);
    accepted(await gateway.send('DELETE', pathOf(id)));
    tell(`${id} is revoked\n`, { id, state: 'revoked' }, options);
  });
}

/** Of an argument: commander reads those of options alone. */
function expiryOf(time: string): string {
  if (isTime(time)) return time;
  throw new CliFailure(EXIT.usage, 'the time must be one such as 2027-01-31T00:00:00Z, or "never"');
}

function draftOf({ name, role, tenant, tenants, platform, agent, user, expires }: CreateOptions): JsonObject {
  const whose = platform === true ? null : tenant;
  return {
    name,
    roles: [...role],
    ...(whose !== undefined && { tenant: whose }),
    ...(tenants !== undefined && { tenants: [...tenants] }),
    ...(agent !== undefined && { agents: [...agent] }),
    ...(user !== undefined && { user }),
    ...(expires !== undefined && { expires_at: expires }),
  };
}

/** The text first, where there is one: it is what has to be copied now. */
function textOf(key: JsonObject): string {
  const { key: text, previous_expires_at: previous } = key;
  const shown = typeof text === 'string' ? `export UTE_API_KEY=${text}\n\n` : '';
  const note =
    typeof text === 'string' && typeof previous === 'string'
      ? `\nThe secret from before is good until ${previous}.\n`
      : '';
  return `${shown}${table(HEAD, [rowOf(key)])}${note}`;
}

function rowOf(key: JsonObject): readonly string[] {
  const { id, name, tenant, tenants, roles, user, state, expires_at: expires } = key;
  const listed = Array.isArray(roles) ? roles.map(word).join(',') : '';
  const several = Array.isArray(tenants)
    ? tenants.map(word).join(',').replace(/^\*$/, '(any)')
    : '(platform)';
  const whose = tenant === null ? several : word(tenant);
  return [word(id), word(name), whose, listed, word(user), word(state), word(expires) || 'never'];
}

function word(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function pathOf(id: string): string {
  return `/v1/keys/${encodeURIComponent(id)}`;
}

function keepOf(text: string): number {
  const ms = text === '0' ? 0 : parseDuration(text);
  if (ms !== undefined) return ms;
  throw new InvalidArgumentError('It must be a duration such as 30m, 24h, or 0.');
}

function timeOf(text: string): string {
  if (isTime(text)) return text;
  throw new InvalidArgumentError('It must be a time such as 2027-01-31T00:00:00Z.');
}
