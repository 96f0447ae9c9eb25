// `ute assignments`: which versions of tools a running gateway gives to tenants, agents and users in place of those in force.
import type { Command } from 'commander';
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import type { CliIo } from '../../cli-io.ts';
import { CliFailure, EXIT, type ExitCode } from '../../exit-code.ts';
import { accepted, asObject } from '../../gateway/gateway-answer.ts';
import { GatewayClient, withGatewayOptions, type GatewayOptions } from '../../gateway/gateway-client.ts';
import { allPages } from '../../pages.ts';
import { table } from '../../table.ts';

interface Options extends GatewayOptions {
  readonly json?: true;
  readonly tenant?: string;
}

interface SubjectOptions extends Options {
  readonly agent?: string;
  readonly user?: string;
}

type Add = (usage: string, summary: string) => Command;
type Tell = (text: string, value: JsonValue, options: Options) => void;

const HEAD = ['TOOL', 'KIND', 'SUBJECT', 'VERSION', 'HASH', 'BY', 'REASON'] as const;
const SHORT_HASH = 12;

export function addAssignmentsCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  const assignments = program
    .command('assignments')
    .summary('which version of a tool a tenant, an agent or a user gets')
    .description(
      'Versions of tools that a running gateway gives to a tenant, an agent or a user in place of the one in force. A change is in force on every replica within five seconds.',
    );
  const add: Add = (usage, summary) =>
    withGatewayOptions(assignments.command(usage))
      .summary(summary)
      .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`)
      .option('--tenant <name>', 'whose (default: that of the key that asks)')
      .option('--json', 'print JSON instead of a table');
  const tell: Tell = (text, value, { json }) => {
    io.stdout(json ? `${JSON.stringify(value, null, 2)}\n` : text);
    finish(EXIT.ok);
  };
  addList(add, io, tell);
  addChanges(add, io, tell);
}

function addList(add: Add, io: CliIo, tell: Tell): void {
  add('list', 'list them, newest first')
    .option('--tool <name>', 'only of this one')
    .action(async (options: Options & { readonly tool?: string }) => {
      const found = await allPages(await GatewayClient.open(options, io), {
        path: '/v1/assignments',
        items: 'assignments',
        query: { tenant: options.tenant, tool: options.tool },
      });
      tell(table(HEAD, found.map(rowOf)), [...found], options);
    });
}

function addChanges(add: Add, io: CliIo, tell: Tell): void {
  ofSubject(add('set <tool> <version>', 'assign a version of a tool, by content hash or by its name'))
    .requiredOption('--reason <text>', 'for people: why')
    .action(async (tool: string, version: string, options: SubjectOptions & { readonly reason: string }) => {
      const path = pathOf(tool, options);
      const gateway = await GatewayClient.open(options, io);
      const body = { version, reason: options.reason };
      const made = asObject(await gateway.send('PUT', path, body, whose(options)));
      tell(table(HEAD, [rowOf(made)]), made, options);
    });
  ofSubject(add('delete <tool>', 'take an assignment away: the next one in order holds')).action(
    async (tool: string, options: SubjectOptions) => {
      const path = pathOf(tool, options);
      const gateway = await GatewayClient.open(options, io);
      accepted(await gateway.send('DELETE', path, undefined, whose(options)));
      tell(`no version of ${tool} is assigned to them any more\n`, { tool, state: 'deleted' }, options);
    },
  );
}

function ofSubject(command: Command): Command {
  return command
    .option('--agent <name>', 'to this agent')
    .option('--user <name>', 'to this user; with --tenant alone it is for the whole tenant');
}

function pathOf(tool: string, options: SubjectOptions): string {
  return `/v1/assignments/${[tool, ...subjectOf(options)].map(encodeURIComponent).join('/')}`;
}

function subjectOf({ agent, user, tenant }: SubjectOptions): readonly [kind: string, subject: string] {
  if (agent !== undefined && user !== undefined)
    throw new CliFailure(EXIT.usage, 'an assignment is for one of --agent and --user');
  if (agent !== undefined) return ['agent', agent];
  if (user !== undefined) return ['user', user];
  if (tenant !== undefined) return ['tenant', tenant];
  throw new CliFailure(EXIT.usage, 'whose is it? --agent, --user, or --tenant alone for a whole tenant');
}

function rowOf(record: JsonObject): readonly string[] {
  const { tool, kind, subject, version, content_hash: hash, assigned_by: by, reason } = record;
  return [tool, kind, subject, version, word(hash).slice(0, SHORT_HASH), by, reason].map(word);
}

function whose({ tenant }: Options) {
  return { tenant };
}

function word(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
