// `ute sessions`: declared conversations of a running gateway: create, list, show, turn, end, calls.
import { Option, type Command } from 'commander';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import { INTERACTION_MODES } from '../../contract/tool/tool-spec.ts';
import type { CliIo } from '../cli-io.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { asObject } from '../gateway/gateway-answer.ts';
import { GatewayClient, withGatewayOptions, type GatewayOptions } from '../gateway/gateway-client.ts';
import { newest, withLimit, type LimitOption } from '../pages.ts';
import { table } from '../table.ts';

interface JsonOption extends GatewayOptions {
  readonly json?: true;
}

interface WhoOptions extends JsonOption {
  readonly agent?: string;
  readonly user?: string;
}

type Add = (usage: string, summary: string) => Command;
/** What was found: as text for people, as a value for programs. */
type Tell = (text: string, value: JsonValue, options: JsonOption) => void;

const HEAD = ['ID', 'STATE', 'MODE', 'AGENT', 'USER', 'TURN', 'CREATED'] as const;
const BUDGETS = ['BUDGET', 'USED', 'LIMIT', 'FREE AT'] as const;
const CALLS = ['ID', 'TOOL', 'STATUS', 'ERROR', 'CREATED'] as const;

export function addSessionsCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  const sessions = program
    .command('sessions')
    .summary('declared conversations of a gateway')
    .description('Declared conversations of a running gateway.');
  const add: Add = (usage, summary) =>
    withGatewayOptions(sessions.command(usage))
      .summary(summary)
      .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`)
      .option('--json', 'print JSON instead of a table');
  const tell: Tell = (text, value, { json }) => {
    io.stdout(json ? `${JSON.stringify(value, null, 2)}\n` : text);
    finish(EXIT.ok);
  };
  addCreate(add, io, tell);
  addList(add, io, tell);
  addOne(add, io, tell);
  addCalls(add, io, tell);
}

function addCreate(add: Add, io: CliIo, tell: Tell): void {
  add('create', 'declare a session')
    .option('--agent <name>', 'the agent of its calls')
    .option('--user <name>', 'the user of its calls')
    .addOption(new Option('--mode <mode>', 'the mode of its calls').choices(INTERACTION_MODES))
    .action(async (options: WhoOptions & { readonly mode?: string }) => {
      const { agent, user, mode } = options;
      const draft: JsonObject = {
        ...(agent !== undefined && { agent_id: agent }),
        ...(user !== undefined && { user_id: user }),
        ...(mode !== undefined && { mode }),
      };
      const gateway = await GatewayClient.open(options, io);
      const session = asObject(await gateway.send('POST', '/v1/sessions', draft));
      tell(shown(session), session, options);
    });
}

function addList(add: Add, io: CliIo, tell: Tell): void {
  withLimit(add('list', 'list them, newest first'))
    .option('--agent <name>', 'only sessions for this agent')
    .option('--user <name>', 'only sessions for this user')
    .option('--active', 'only sessions that are not over')
    .action(async (options: WhoOptions & LimitOption & { readonly active?: true }) => {
      const { agent, user, active } = options;
      const gateway = await GatewayClient.open(options, io);
      const query = { agent_id: agent, user_id: user, active: active === true ? 'true' : undefined };
      const found = await newest(gateway, { path: '/v1/sessions', items: 'sessions', query }, options, io);
      tell(table(HEAD, found.map(rowOf)), [...found], options);
    });
}

function addOne(add: Add, io: CliIo, tell: Tell): void {
  const acts = [
    ['show <id>', 'one session, with what is used of its budgets', 'GET', ''],
    ['turn <id>', 'begin the next turn of a session', 'POST', '/turns'],
    ['end <id>', 'end a session', 'DELETE', ''],
  ] as const;
  for (const [usage, summary, method, rest] of acts) {
    add(usage, summary).action(async (id: string, options: JsonOption) => {
      const gateway = await GatewayClient.open(options, io);
      const path = `${pathOf(id)}${rest}`;
      const session = asObject(method === 'GET' ? await gateway.get(path) : await gateway.send(method, path));
      tell(shown(session), session, options);
    });
  }
}

function addCalls(add: Add, io: CliIo, tell: Tell): void {
  withLimit(add('calls <id>', 'the calls of a session, newest first')).action(
    async (id: string, options: JsonOption & LimitOption) => {
      const gateway = await GatewayClient.open(options, io);
      const found = await newest(gateway, { path: `${pathOf(id)}/calls`, items: 'calls' }, options, io);
      const rows = found.map(({ id: call, tool, status, error_type: error, created_at: at }) =>
        [call, tool, status, error, at].map(word),
      );
      tell(table(CALLS, rows), [...found], options);
    },
  );
}

function shown(session: JsonObject): string {
  const budgets = listOf(session['budgets']).map(({ name, used, limit, free_at: freeAt }) =>
    [name, used ?? 'unknown', limit, freeAt].map(word),
  );
  return `${table(HEAD, [rowOf(session)])}${budgets.length === 0 ? '' : `\n${table(BUDGETS, budgets)}`}`;
}

function rowOf(session: JsonObject): readonly string[] {
  const { id, state, mode, agent_id: agent, user_id: user, turn_id: turn, created_at: at } = session;
  return [id, state, mode, agent, user, turn, at].map(word);
}

function listOf(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function word(value: JsonValue | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function pathOf(id: string): string {
  return `/v1/sessions/${encodeURIComponent(id)}`;
}
