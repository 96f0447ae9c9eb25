// An agent declared with what is configured for its tools: `ute agents create --tools`, `ute packs add --agent`.
import { isJsonObject, type JsonObject } from '../../../contract/json.ts';
import { readArguments } from '../../arguments.ts';
import type { CliIo } from '../../cli-io.ts';
import { CliFailure, EXIT } from '../../exit-code.ts';
import { asObject, Refused } from '../../gateway/gateway-answer.ts';
import type { GatewayClient } from '../../gateway/gateway-client.ts';

/** By the name of the tool: {config, sensitive_config}. */
export type AgentTools = readonly (readonly [tool: string, said: JsonObject])[];

export interface WantedAgent {
  readonly name: string;
  readonly description?: string | undefined;
  readonly tenant?: string | undefined;
  readonly tools: AgentTools;
}

/** Read whole before anything is asked for: of a file with a mistake nothing is done. Throws CliFailure. */
export async function readAgentTools(said: string | undefined, io: CliIo): Promise<AgentTools> {
  if (said === undefined) return [];
  refuseOnCommandLine('--tools', said);
  return Object.entries(await readArguments(said, io)).map(([tool, each]) => {
    if (isJsonObject(each)) return [tool, each] as const;
    throw new CliFailure(EXIT.usage, `--tools: ${tool} must be an object: {config, sensitive_config}`);
  });
}

/** Throws CliFailure; the agent is not declared then, unless the message says that it is. */
export async function declareAgent(
  { name, description, tenant, tools }: WantedAgent,
  gateway: GatewayClient,
): Promise<{ readonly agent: JsonObject; readonly tools: JsonObject[] }> {
  const body = {
    name,
    ...(description !== undefined && { description }),
    ...(tenant !== undefined && { tenant }),
  };
  const agent = asObject(await gateway.send('POST', '/v1/agents', body));
  try {
    return { agent, tools: await configureTools({ name, tenant, tools }, gateway) };
  } catch (error) {
    return withdrawn(name, gateway, tenant, error);
  }
}

/** For an agent that is there. Throws CliFailure; tools before the one that was refused are configured then. */
export async function configureTools(
  { name, tenant, tools }: WantedAgent,
  gateway: GatewayClient,
): Promise<JsonObject[]> {
  const made: JsonObject[] = [];
  for (const [tool, said] of tools)
    made.push(asObject(await gateway.send('PUT', agentPath(name, 'tools', tool), said, { tenant })));
  return made;
}

export function agentPath(...parts: readonly string[]): string {
  return `/v1/agents/${parts.map(encodeURIComponent).join('/')}`;
}

/** Throws CliFailure. */
export function refuseOnCommandLine(option: string, said: string): void {
  if (said === '-' || said.startsWith('@')) return;
  throw new CliFailure(
    EXIT.usage,
    `${option} must be @file or -: whoever lists processes reads a command line`,
  );
}

/** An agent without some of its tools is not what was asked for: as if it had never been declared. Throws CliFailure. */
async function withdrawn(
  name: string,
  gateway: GatewayClient,
  tenant: string | undefined,
  cause: unknown,
): Promise<never> {
  if (!(cause instanceof CliFailure)) throw cause;
  const gone = await gateway.send('DELETE', agentPath(name), undefined, { tenant }).catch(() => undefined);
  const left =
    gone?.ok === true
      ? `The agent ${name} was not declared.`
      : `The agent ${name} is declared, without this tool and those after it: delete it (ute agents delete ${name}), or configure the rest.`;
  const message = `${cause.message}\n${left}`;
  throw cause instanceof Refused
    ? new Refused(message, cause.reason)
    : new CliFailure(cause.exitCode, message);
}
