// ToolSpec: what a tool is, as data. Agents see the public part; implementationConfig never leaves the gateway.
import type { Reason } from '../call/reasons/reasons.ts';
import type { JsonObject, JsonSchema, JsonValue } from '../json.ts';
import type { Origin } from './origin.ts';
import type { ToolRoute } from './tool-route.ts';

/** From the least to the greatest. */
export const RISK_LEVELS = ['low', 'medium', 'high', 'critical'] as const;
export type RiskLevel = (typeof RISK_LEVELS)[number];
export const INTERACTION_MODES = ['voice', 'text', 'live_call'] as const;
export type InteractionMode = (typeof INTERACTION_MODES)[number];
/** Who goes first when the gateway has more to do than it can: low is refused first. */
export type CallPriority = 'low' | 'normal' | 'high';

export interface ToolMetadata {
  readonly version: string;
  /** retrieval | action | utility, or the operator's own word. */
  readonly category?: string;
  /** What the caller's credential must hold, e.g. `math:use`. */
  readonly permissions: readonly string[];
  readonly riskLevel: RiskLevel;
  readonly isDangerous: boolean;
  readonly requiresApproval: boolean;
  readonly readOnly: boolean;
  /** May be run again with the same arguments without a second effect: the condition for a retry. */
  readonly idempotent: boolean;
  readonly modes: readonly InteractionMode[];
  readonly tags: readonly string[];
  /** What a call costs, in the operator's own unit: counted against budgets. Nothing when left out. */
  readonly cost?: number;
  /** A tool with actions is also called by its own name, with `{action, details}`, as older callers do. */
  readonly legacyExecute?: true;
  /** What people are shown in place of the name. */
  readonly title?: string;
  readonly icons?: readonly ToolIcon[];
  /** Called by other tools alone: in no list, and to whoever calls from outside there is no such tool. */
  readonly internal?: true;
  /** Calls of these tenants alone: to any other there is no such tool. */
  readonly tenants?: readonly string[];
  /** 2–4 lines that are always in prompts. */
  readonly summary?: string;
  /** The full text, served on demand. */
  readonly documentation?: string;
}

/** A picture that clients may show beside a tool, as MCP has it. */
export interface ToolIcon {
  /** https, or a data: URI. */
  readonly src: string;
  readonly mimeType?: string;
  /** `48x48`, or `any`. */
  readonly sizes?: readonly string[];
  readonly theme?: 'light' | 'dark';
}

export type ParameterType = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object' | 'datetime';

export interface ActionParameter {
  readonly name: string;
  readonly type: ParameterType;
  readonly description?: string;
  readonly required: boolean;
  readonly default?: JsonValue;
  /** Name of the agent-config field whose value stands in when the argument is left out. */
  readonly defaultFromConfig?: string;
  readonly enum?: readonly JsonValue[];
  /** Of an array: what it holds. */
  readonly items?: JsonSchema;
  /** Of an object: its members. */
  readonly properties?: { readonly [name: string]: JsonSchema };
  /** Of an object: the members that it must have. */
  readonly requiredProperties?: readonly string[];
  readonly minValue?: number;
  readonly maxValue?: number;
}

/** One function of a tool that has several. Called by agents as `tool.action`. */
export interface ToolAction {
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly ActionParameter[];
  readonly returns?: string;
}

export interface RetryPolicy {
  /** Attempts in all, the first included. */
  readonly maxAttempts: number;
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
}

/** Whom a limit counts: everybody together, or each tenant, agent or user apart. */
export type LimitScope = 'tool' | 'tenant' | 'agent' | 'user';

/** Without the shared store: the replica's own share of the limit, no limit at all, or no calls. */
export type StoreFailurePolicy = 'local' | 'open' | 'closed';

export interface ConcurrencyLimit {
  readonly limit: number;
  readonly per: LimitScope;
  readonly onStoreFailure: StoreFailurePolicy;
  /** What becomes of a running call whose slot another may have got meanwhile. */
  readonly onLeaseLost: 'cancel' | 'continue';
  /** Calls that may wait for a free slot; one more is refused at once. */
  readonly maxQueue: number;
  readonly maxWaitMs: number;
}

export interface RateLimit {
  readonly per: LimitScope;
  /** Calls per period. */
  readonly rate: number;
  readonly periodMs: number;
  /** Calls that may come at once. */
  readonly burst: number;
  readonly onStoreFailure: StoreFailurePolicy;
  /** `shadow` counts and refuses nobody. */
  readonly mode: 'enforce' | 'shadow';
}

/** The most that one answer may hold; the rest is left out at whole items, and said to be. */
export interface ResultBudget {
  readonly maxBytes?: number;
  readonly maxItems?: number;
}

/** A share of a tool's callers gets another tool instead, always the same ones: a new version on trial. */
export interface Canary {
  /** Name of the tool on trial: with the same arguments, actions and permissions. */
  readonly tool: string;
  readonly percent: number;
  readonly by: 'tenant' | 'agent';
}

/** Of a tool whose words and schemas somebody else writes, such as an MCP server: none of them is trusted. */
export interface ForeignDefinition {
  /** The name of the connection to whoever writes it. */
  readonly server: string;
  /** Set: the tool is listed with the words that were agreed to, and every call is refused. */
  readonly quarantine?: Quarantine;
}

export interface Quarantine {
  readonly reason: Reason;
  readonly message: string;
}

/** The credential that an agent needs for a tool. */
export interface ToolAuth {
  /** Left out: any secret in sensitive_config. */
  readonly type?: 'oauth2' | 'api_key';
  /** For whoever obtains it: addresses, scopes, the provider's name. */
  readonly config: JsonObject;
  /** Set: the gateway obtains it, and keeps it fresh. */
  readonly managed?: ManagedAuth;
}

/** A credential by OAuth from a provider of gateway.yaml. */
export interface ManagedAuth {
  readonly provider: string;
  /** Without these the tool is of no use. */
  readonly scopes: readonly string[];
  /** Patterns of the hosts that the token may be sent to. */
  readonly hosts: readonly string[];
}

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** The executor's folder name: python, http, javascript … */
  readonly toolType: string;
  /** As callers are held to it: closed at its root where the declaration leaves open what else may come. */
  readonly inputSchema: JsonSchema;
  /** What becomes of arguments that nothing declares. Left out: what the schema says. */
  readonly undeclaredArguments?: 'refuse' | 'drop' | 'allow';
  readonly outputSchema?: JsonSchema;
  /** Present when the tool has several functions; inputSchema is then not used for calls. */
  readonly actions?: readonly ToolAction[];
  /** Read and checked by the executor alone. */
  readonly implementationConfig: JsonObject;
  readonly metadata: ToolMetadata;
  readonly timeoutMs: number;
  /** Normal when left out. */
  readonly priority?: CallPriority;
  readonly retries?: RetryPolicy;
  /** All of them must have a slot free. */
  readonly concurrency?: readonly ConcurrencyLimit[];
  readonly rateLimits: readonly RateLimit[];
  readonly resultBudget?: ResultBudget;
  /** Options per extension, by extension name; merged over the gateway's defaults at load. */
  readonly extensions: { readonly [extension: string]: JsonObject };
  /** Set by an extension that may ask for a human's approval of single calls. */
  readonly mayNeedApproval?: true;
  /** JSON Schema of what an operator may set per agent; marked properties are kept encrypted. */
  readonly configSchema?: JsonSchema;
  /** Set: nobody calls it for an agent without a credential of that agent. */
  readonly auth?: ToolAuth;
  readonly foreign?: ForeignDefinition;
  /** Set: it came out of a document from elsewhere, and calls only what that may call. */
  readonly origin?: Origin;
  readonly canary?: Canary;
  /** Paths of REST besides its own. */
  readonly routes?: readonly ToolRoute[];
  /** Absolute path of the folder that relative paths in implementationConfig start from. */
  readonly baseDir: string;
  /** sha256 of the definition's content, hex. Two specs with one hash behave alike. */
  readonly contentHash: string;
}

/** Unsafe = marked dangerous, or needing approval, or of high or critical risk. */
export function isUnsafe(metadata: ToolMetadata): boolean {
  return (
    metadata.isDangerous ||
    metadata.requiresApproval ||
    metadata.riskLevel === 'high' ||
    metadata.riskLevel === 'critical'
  );
}

/** A live call is one by voice: what serves voice serves it, too. */
export function servesMode({ modes }: Pick<ToolMetadata, 'modes'>, mode: InteractionMode): boolean {
  return modes.includes(mode) || (mode === 'live_call' && modes.includes('voice'));
}
