// `ute packs add --agent`: an agent of the gateway that runs is configured for the tools of the pack, once it has them.
import { setTimeout as pause } from 'node:timers/promises';
import type { Reason } from '../../../contract/call/reasons/reasons.ts';
import type { CliIo } from '../../cli-io.ts';
import { CliFailure, EXIT } from '../../exit-code.ts';
import { accepted, Refused } from '../../gateway/gateway-answer.ts';
import { GatewayClient, type GatewayOptions } from '../../gateway/gateway-client.ts';
import { agentPath, configureTools, declareAgent, readAgentTools } from '../agents/declare-agent.ts';
import type { WantedAgent } from '../agents/declare-agent.ts';
import { BETWEEN_MS, takePack, TRIES, type AddedPack } from './take-pack.ts';

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
  async configure(pack: AddedPack): Promise<void> {
    if (!(await takePack(pack, this.#gateway)))
      throw new CliFailure(
        EXIT.failed,
        `gateway.yaml has the pack ${pack.name}, but the gateway does not have ${pack.tool}: it was started with another gateway.yaml`,
      );
    const configure = this.#isDeclared ? configureTools : declareAgent;
    await onceEverywhere(() => configure(this.#wanted, this.#gateway));
  }
}

/** Nothing is configured for a tool that the replica which was asked does not have yet. */
async function onceEverywhere(work: () => Promise<unknown>): Promise<void> {
  for (let left = TRIES; ; left -= 1)
    try {
      await work();
      return;
    } catch (error) {
      if (left === 1 || !isNoTool(error)) throw error;
      await pause(BETWEEN_MS);
    }
}

/** Of a tool that is not in force. */
function isNoTool(error: unknown): boolean {
  return error instanceof Refused && error.reason === ('TOOL_NOT_FOUND' satisfies Reason);
}
