// `ute tools`: lists the tools of a running gateway, or exports them for an LLM provider.
import { Option, type Command } from 'commander';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { TOOL_FORMATS } from '../../formats/tool-lists.ts';
import type { CliIo } from '../cli-io.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { accepted, parse } from '../gateway/gateway-answer.ts';
import { GatewayClient, withGatewayOptions, type GatewayOptions } from '../gateway/gateway-client.ts';
import { allPages } from '../pages.ts';
import { table } from '../table.ts';

interface ToolsOptions extends GatewayOptions {
  readonly format?: string;
  readonly strict?: true;
  readonly type?: string;
  readonly tag?: string;
  readonly toolset?: string;
  readonly json?: true;
}

export function addToolsCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  withGatewayOptions(program.command('tools'))
    .summary('list the tools of a gateway')
    .description('Lists the tools of a running gateway, or exports them in the form a provider takes.')
    .addOption(new Option('--format <format>', 'export for a provider').choices(TOOL_FORMATS))
    .option('--strict', "with --format: the provider's strict mode")
    .option('--type <tool_type>', 'only tools of this executor')
    .option('--tag <tag>', 'only tools with this tag')
    .option('--toolset <name>', 'only tools of this toolset')
    .option('--json', 'print JSON instead of a table')
    .action(async (options: ToolsOptions) => finish(await tools(options, io)));
}

async function tools(options: ToolsOptions, io: CliIo): Promise<ExitCode> {
  const gateway = await GatewayClient.open(options, io);
  if (options.format === undefined) {
    const found = await allPages(gateway, { path: '/v1/tools', items: 'tools', query: filterOf(options) });
    io.stdout(
      options.json
        ? `${JSON.stringify(found, null, 2)}\n`
        : table(['NAME', 'TYPE', 'RISK', 'DESCRIPTION'], found.map(rowOf)),
    );
    return EXIT.ok;
  }
  const { format, strict } = options;
  const query = { ...filterOf(options), format, strict: strict && 'true' };
  const text = accepted(await gateway.get('/v1/tools', query));
  const exported = format === 'prompt' ? undefined : parse(text);
  io.stdout(exported === undefined ? text : `${JSON.stringify(exported, null, 2)}\n`);
  return EXIT.ok;
}

function filterOf({ type, tag, toolset }: ToolsOptions) {
  return { tool_type: type, tag, toolset };
}

function rowOf(tool: JsonObject): readonly string[] {
  const mark = tool['disabled'] === true ? '(disabled) ' : '';
  const [firstLine = ''] = word(tool['description']).split('\n');
  return [word(tool['name']), word(tool['tool_type']), word(tool['risk_level']), mark + firstLine];
}

function word(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
