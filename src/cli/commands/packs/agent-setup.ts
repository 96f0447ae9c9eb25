// `ute packs add --agent`: an agent of the gateway that runs is configured for the tools of the pack, once it has them.
import { isJsonObject, type JsonValue } from '../../../contract/json.ts';
import type { PackManifest } from '../../../lib/packs/pack-manifest.ts';
import type { CliIo } from '../../cli-io.ts';
import { CliFailure, EXIT } from '../../exit-code.ts';
import { accepted, asObject } from '../../gateway-answer.ts';
import { GatewayClient, type GatewayOptions } from '../../gateway-client.ts';
import { agentPath, configureTools, declareAgent, readAgentTools } from '../agents/declare-agent.ts';
import type { WantedAgent } from '../agents/declare-agent.ts';

export interface AgentSetupOptions extends GatewayOptions {
  readonly agent?: string;
  readonly tools?: string;
  readonly tenant?: string;
}

export class AgentSetup {
  readonly #wanted: WantedAgent;
  readonly #gateway: GatewayClient;
  readonly #isDeclared: boolean;

  private constructor(wanted: WantedAgent, gateway: GatewayClient, isDeclared: boolean) {
    this.#wanted = wanted;
    this.#gateway = gateway;
    this.#isDeclared = isDeclared;
  }

  /** Undefined: no agent was named. Before gateway.yaml is written, so that a wrong key or file leaves it as it was. Throws CliFailure. */
  static async open(options: AgentSetupOptions, io: CliIo): Promise<AgentSetup | undefined> {
    const { agent: name, tools: said, tenant } = options;
    if (name === undefined && said === undefined && tenant === undefined) return undefined;
    if (name === undefined || said === undefined)
      throw new CliFailure(EXIT.usage, '--agent and --tools are given together: who, and what is configured');
    const tools = await readAgentTools(said, io);
    const gateway = await GatewayClient.open(options, io);
    const found = await gateway.get(agentPath(name), { tenant });
    if (found.status !== 404) accepted(found);
    return new AgentSetup({ name, tenant, tools }, gateway, found.ok);
  }

  get name(): string {
    return this.#wanted.name;
  }

  /** Throws CliFailure. */
  async configure({ name: pack, first_call: { tool } }: PackManifest): Promise<void> {
    const { ok, problems } = asObject(await this.#gateway.send('POST', '/v1/admin/reload'));
    if (ok !== true)
      throw new CliFailure(
        EXIT.refused,
        `the gateway did not take the pack ${pack}; its tools are those from before${linesOf(problems)}`,
      );
    const found = await this.#gateway.get(`/v1/tools/${encodeURIComponent(tool)}`);
    if (found.status === 404)
      throw new CliFailure(
        EXIT.failed,
        `the gateway does not have ${tool}: it was started with another gateway.yaml, or with a version that takes loaders at its start only`,
      );
    accepted(found);
    if (this.#isDeclared) await configureTools(this.#wanted, this.#gateway);
    else await declareAgent(this.#wanted, this.#gateway);
  }
}

function linesOf(problems: JsonValue | undefined): string {
  const said = Array.isArray(problems) ? problems.filter(isJsonObject) : [];
  return said.map(({ message, tool, file }) => `\n${word(tool) || word(file)}: ${word(message)}`).join('');
}

function word(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
