// AgentTools: what the agent of a call has configured for the tool, bound to the call; or why it may not call it.
import { holds } from '../../contract/call/principal.ts';
import { toolFailure, toolPermissionsMissing } from '../../contract/call/failure.ts';
import type { Reason } from '../../contract/call/reasons/reasons.ts';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { AgentTool, ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { ToolSpec } from '../../contract/tool/tool-spec.ts';
import type { AgentToolConfig } from '../../ports/agents/agent-store.ts';
import type { KnownAgent, KnownAgents } from '../../ports/agents/known-agents.ts';
import type { AgentTokens, TokenWanted } from '../../ports/oauth/agent-tokens.ts';
import type { SecretSealer } from '../../ports/secrets/secret-sealer.ts';
import { ACCESS_TOKEN } from '../../contract/tool/credentials.ts';
import { configRulesOf } from './config-rules.ts';

interface Whose {
  readonly tenantId: string;
  readonly agentId: string | undefined;
}

export class AgentTools {
  readonly #agents: KnownAgents;
  readonly #sealer: Pick<SecretSealer, 'open'>;
  readonly #tokens: AgentTokens | undefined;
  /** Of configurations that were found to fit another content of the tool: whether they fit this one. */
  readonly #fits = new WeakMap<AgentToolConfig, WeakMap<ToolSpec, Promise<boolean>>>();

  /** Without `tokens`, no tool is given the token of an account. */
  constructor(agents: KnownAgents, sealer: Pick<SecretSealer, 'open'>, tokens?: AgentTokens) {
    this.#agents = agents;
    this.#sealer = sealer;
    this.#tokens = tokens;
  }

  /**
   * `runs`: another version of the tool, or the one on trial in its place; it is held to what that one asks for. The same
   * call where nobody has declared its agent and the tool asks for nothing. Throws ToolFailure, or rejects with it.
   */
  bind(call: ToolCall, asked: ToolFunction, runs: ToolFunction): ToolCall | Promise<ToolCall> {
    const agent = this.#agents.isEmpty ? undefined : this.#agentOf(whoseCall(call));
    if (agent === undefined) {
      if (configRulesOf(runs.spec)?.isOptional === false) throw refused(call, runs, 'TOOL_NOT_CONFIGURED');
      return call;
    }
    const configured = agent.tools.get(asked.spec.name);
    if (configured === undefined) throw refused(call, runs, 'TOOL_NOT_CONFIGURED');
    if (!configured.isEnabled) throw refused(call, runs, 'TOOL_DISABLED_FOR_AGENT');
    const rules = configRulesOf(runs.spec);
    if (rules === undefined || rules.hash === configured.schemaHash)
      return this.#bound(call, runs, configured);
    return this.#stillFits(runs.spec, configured).then((fits) => {
      if (fits) return this.#bound(call, runs, configured);
      throw refused(call, runs, 'TOOL_NOT_CONFIGURED', NO_LONGER_FITS);
    });
  }

  /** Of a tool that there is not: undefined where nothing was configured for it either. */
  missing(call: ToolCall): ToolFailure | undefined {
    const name = call.request.tool;
    const tools = this.#agentOf(whoseCall(call))?.tools;
    if (tools === undefined || !(tools.has(name) || tools.has(name.split('.')[0] ?? ''))) return undefined;
    const message =
      'This tool is configured for the agent, and the gateway has no implementation of it in force.';
    return toolFailure('TOOL_NOT_IMPLEMENTED', message);
  }

  /** For lists. */
  isOffered(whose: Whose, { spec }: ToolFunction): boolean {
    const agent = this.#agentOf(whose);
    return agent === undefined
      ? configRulesOf(spec)?.isOptional !== false
      : agent.tools.get(spec.name)?.isEnabled === true;
  }

  /** Another one after every change of any agent. */
  get generation(): number {
    return this.#agents.generation;
  }

  #agentOf({ tenantId, agentId }: Whose): KnownAgent | undefined {
    if (agentId === undefined || this.#agents.isEmpty) return undefined;
    return this.#agents.find(tenantId, agentId);
  }

  /** The tool asks for something else than when it was configured. */
  #stillFits(spec: ToolSpec, configured: AgentToolConfig): Promise<boolean> {
    let known = this.#fits.get(configured);
    if (known === undefined) this.#fits.set(configured, (known = new WeakMap()));
    let fits = known.get(spec);
    if (fits === undefined) {
      fits = this.#check(spec, configured);
      known.set(spec, fits);
      // A key that is missing now may be there at the next call.
      fits.catch(() => known.delete(spec));
    }
    return fits;
  }

  async #check(spec: ToolSpec, configured: AgentToolConfig): Promise<boolean> {
    const secrets = await openAll(this.#sealer, configured);
    return configRulesOf(spec)?.violations(configured.config, secrets, true).length === 0;
  }

  #bound(call: ToolCall, fn: ToolFunction, configured: AgentToolConfig): ToolCall | Promise<ToolCall> {
    const { revision, config } = configured;
    const wanted = wantedOf(call, fn, configured);
    if (wanted !== undefined && missingPermissions(call, fn).length > 0)
      throw refused(call, fn, 'TOOL_NOT_CONFIGURED');
    const agentTool = { revision, ...this.#secretsOf(configured, wanted) };
    call.progress.notes = { ...call.progress.notes, agent_config: revision };
    const bound = { ...call, config: { ...fn.configDefaults, ...config }, agentTool };
    const checked = wanted && this.#tokens?.check(wanted);
    return checked === undefined ? bound : checked.then(() => bound);
  }

  #secretsOf(configured: AgentToolConfig, wanted: TokenWanted | undefined): Omit<AgentTool, 'revision'> {
    const [sealer, tokens] = [this.#sealer, this.#tokens];
    const fields = Object.keys(configured.sealed);
    if (wanted === undefined || tokens === undefined) {
      const openSecrets = fields.length === 0 ? undefined : () => openAll(sealer, configured);
      return { openSecrets, secretFields: fields };
    }
    return {
      secretFields: [...fields, ACCESS_TOKEN],
      openSecrets: async () => {
        const own = await openAll(sealer, configured);
        return { ...own, [ACCESS_TOKEN]: await tokens.token(wanted) };
      },
      tokenRefused: () => tokens.refused(wanted),
    };
  }
}

/** Undefined: the tool is given no token of an account. */
function wantedOf({ principal }: ToolCall, { spec }: ToolFunction, { tenantId, agent }: AgentToolConfig) {
  const auth = spec.auth?.managed;
  return auth && { tenantId, agent, auth, principal };
}

const MESSAGES = {
  TOOL_NOT_CONFIGURED: 'This tool is not configured for this agent.',
  TOOL_DISABLED_FOR_AGENT: 'This tool is currently disabled for this agent.',
} as const satisfies Partial<Record<Reason, string>>;
const NO_LONGER_FITS =
  'This tool is not configured for this agent as it asks for now: its config_schema was changed since.';

/** Who may not call the tool at all learns nothing of how it is configured. */
function refused(
  call: ToolCall,
  fn: ToolFunction,
  reason: keyof typeof MESSAGES,
  message: string = MESSAGES[reason],
): ToolFailure {
  const missing = missingPermissions(call, fn);
  return missing.length > 0 ? toolPermissionsMissing(missing) : toolFailure(reason, message);
}

function missingPermissions({ principal }: ToolCall, { spec }: ToolFunction): string[] {
  return spec.metadata.permissions.filter((each) => principal === undefined || !holds(principal, each));
}

export async function openAll(
  sealer: Pick<SecretSealer, 'open'>,
  { tenantId, agent, tool, sealed }: AgentToolConfig,
): Promise<JsonObject> {
  const opened = Object.entries(sealed).map(async ([field, text]) => {
    const value = JSON.parse(await sealer.open(text, { tenantId, agent, tool, field })) as JsonValue;
    return [field, value] as const;
  });
  return Object.fromEntries(await Promise.all(opened));
}

function whoseCall({ principal, context }: ToolCall): Whose {
  return { tenantId: principal?.tenantId ?? '', agentId: context.agentId };
}
