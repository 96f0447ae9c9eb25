// `ute agents`: the agents of a running gateway, and what is configured for each of their tools.
import type { Command } from 'commander';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts';
import { readArguments } from '../../arguments.ts';
import type { CliIo } from '../../cli-io.ts';
import { CliFailure, EXIT, type ExitCode } from '../../exit-code.ts';
import { accepted, asObject } from '../../gateway/gateway-answer.ts';
import { GatewayClient, withGatewayOptions, type GatewayOptions } from '../../gateway/gateway-client.ts';
import { allPages } from '../../pages.ts';
import { table } from '../../table.ts';
import { addAccounts } from './agent-accounts.ts';
import { agentPath, declareAgent, readAgentTools, refuseOnCommandLine } from './declare-agent.ts';

interface AgentOptions extends GatewayOptions {
  readonly json?: true;
  readonly tenant?: string;
}

interface CreateOptions extends AgentOptions {
  readonly description?: string;
  readonly tools?: string;
}

interface ConfigureOptions extends AgentOptions {
  readonly config?: string;
  readonly secrets?: string;
  readonly enable?: true;
  readonly disable?: true;
  readonly replace?: true;
}

type Add = (usage: string, summary: string) => Command;
type Tell = (text: string, value: JsonValue, options: AgentOptions) => void;

const AGENTS = ['NAME', 'TENANT', 'DESCRIPTION', 'UPDATED'] as const;
const TOOLS = ['TOOL', 'STATE', 'CONFIG', 'SECRETS', 'UPDATED'] as const;

export function addAgentsCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  const agents = program
    .command('agents')
    .summary('agents, the configuration of their tools, and their accounts')
    .description(
      'Agents of a running gateway, what is configured for each of their tools, and the accounts that they act with. A change is in force on every replica within five seconds.',
    );
  const add: Add = (usage, summary) =>
    withGatewayOptions(agents.command(usage))
      .summary(summary)
      .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`)
      .option('--tenant <name>', 'whose agents (default: those of the key that asks)')
      .option('--json', 'print JSON instead of a table');
  const tell: Tell = (text, value, { json }) => {
    io.stdout(json ? `${JSON.stringify(value, null, 2)}\n` : text);
    finish(EXIT.ok);
  };
  addAgents(add, io, tell);
  addTools(add, io, tell);
  addAccounts(add, io, tell);
}

function addAgents(add: Add, io: CliIo, tell: Tell): void {
  add('list', 'list them').action(async (options: AgentOptions) => {
    const found = await allPages(await GatewayClient.open(options, io), {
      path: '/v1/agents',
      items: 'agents',
      query: { tenant: options.tenant },
    });
    tell(table(AGENTS, found.map(agentRow)), [...found], options);
  });
  add('create <agent>', 'declare an agent: it calls the tools that are configured for it, and no others')
    .option('--description <text>', 'for people: what it is for')
    .option(
      '--tools <json>',
      'what is configured for it, {tool: {config, sensitive_config}}: @file or -, since others see a command line',
    )
    .action(async (name: string, options: CreateOptions) => {
      const { description, tenant } = options;
      const wanted = { name, description, tenant, tools: await readAgentTools(options.tools, io) };
      const { agent, tools: made } = await declareAgent(wanted, await GatewayClient.open(options, io));
      const configured = made.length === 0 ? '' : `\n${table(TOOLS, made.map(toolRow))}`;
      const shown = made.length === 0 ? agent : { ...agent, tools: made };
      tell(`${table(AGENTS, [agentRow(agent)])}${configured}`, shown, options);
    });
  add('delete <agent>', 'delete an agent with all that is configured for it').action(
    async (name: string, options: AgentOptions) => {
      const gateway = await GatewayClient.open(options, io);
      accepted(await gateway.send('DELETE', agentPath(name), undefined, whose(options)));
      tell(`${name} is deleted\n`, { name, state: 'deleted' }, options);
    },
  );
}

function addTools(add: Add, io: CliIo, tell: Tell): void {
  add('tools <agent>', 'what is configured for an agent, by tool').action(
    async (name: string, options: AgentOptions) => {
      const gateway = await GatewayClient.open(options, io);
      const { tools } = asObject(await gateway.get(agentPath(name, 'tools'), whose(options)));
      const listed = Array.isArray(tools) ? tools.filter(isJsonObject) : [];
      tell(table(TOOLS, listed.map(toolRow)), listed, options);
    },
  );
  add('configure <agent> <tool>', 'configure a tool for an agent, or change some of it')
    .option(
      '--config <json>',
      'a JSON object, @file, or - for standard input; members are merged, null takes one out',
    )
    .option('--secrets <json>', 'the same for sensitive_config: @file or -, since others see a command line')
    .option('--enable', 'the agent may call it')
    .option('--disable', 'every call of the agent is refused')
    .option('--replace', 'what is not said is as if never set; secrets stay unless --secrets is said')
    .action(async (agent: string, tool: string, options: ConfigureOptions) => {
      const body = await editOf(options, io);
      const gateway = await GatewayClient.open(options, io);
      const path = agentPath(agent, 'tools', tool);
      const isThere = options.replace !== true && (await gateway.get(path, whose(options))).ok;
      const made = asObject(await gateway.send(isThere ? 'PATCH' : 'PUT', path, body, whose(options)));
      tell(table(TOOLS, [toolRow(made)]), made, options);
    });
  add('unconfigure <agent> <tool>', 'delete what is configured for an agent and a tool').action(
    async (agent: string, tool: string, options: AgentOptions) => {
      const gateway = await GatewayClient.open(options, io);
      accepted(await gateway.send('DELETE', agentPath(agent, 'tools', tool), undefined, whose(options)));
      tell(`${tool} is not configured for ${agent} any more\n`, { agent, tool, state: 'deleted' }, options);
    },
  );
  add(
    'form <agent> <tool>',
    'what a tool asks of its configuration, as JSON: schema, hints and values',
  ).action(async (agent: string, tool: string, options: AgentOptions) => {
    const gateway = await GatewayClient.open(options, io);
    const form = asObject(await gateway.get(agentPath(agent, 'tools', tool, 'config-form'), whose(options)));
    tell(`${JSON.stringify(form, null, 2)}\n`, form, options);
  });
}

async function editOf(
  { config, secrets, enable, disable }: ConfigureOptions,
  io: CliIo,
): Promise<JsonObject> {
  if (enable === true && disable === true)
    throw new CliFailure(EXIT.usage, '--enable and --disable say opposite things');
  if (config === '-' && secrets === '-')
    throw new CliFailure(EXIT.usage, 'standard input is one of --config and --secrets');
  if (secrets !== undefined) refuseOnCommandLine('--secrets', secrets);
  return {
    ...(enable === true && { is_enabled: true }),
    ...(disable === true && { is_enabled: false }),
    ...(config !== undefined && { config: await readArguments(config, io) }),
    ...(secrets !== undefined && { sensitive_config: await readArguments(secrets, io) }),
  };
}

function agentRow({ name, tenant, description, updated_at: updated }: JsonObject): readonly string[] {
  return [name, tenant, description, updated].map(word);
}

function toolRow(configured: JsonObject): readonly string[] {
  const { tool, is_enabled: isEnabled, config, sensitive_fields: fields, updated_at: updated } = configured;
  const secrets = Array.isArray(fields) ? fields.map(word).join(',') : '';
  return [
    word(tool),
    isEnabled === true ? 'enabled' : 'disabled',
    JSON.stringify(config ?? {}),
    secrets,
    word(updated),
  ];
}

function whose({ tenant }: AgentOptions) {
  return { tenant };
}

function word(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
