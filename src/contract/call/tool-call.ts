// ToolCall: one running invocation. Immutable; an extension that changes it passes a copy to `next`.
import type { JsonObject, JsonValue } from '../json.ts';
import type { AdmittedCall, Grant } from './admitted-call.ts';
import type { AskedApproval } from './approval/asked-approval.ts';
import type { Credential, Principal } from './principal.ts';
import type { ToolContext } from './tool-context.ts';
import type { ToolFailure } from './tool-failure.ts';
import type { KnownTool, ToolFunction } from '../tool/tool-function.ts';
import type { ToolSet } from '../tool/tool-set.ts';
import type { Toolset } from '../tool/toolset.ts';
import type { RateLimitState } from './tool-response.ts';
import type { VersionSource } from './version-source.ts';

/** What a door hands to the core. */
export interface ToolRequest {
  /** The name as the caller wrote it; provider spellings are accepted. */
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly largeIntegers?: LargeIntegers;
  readonly context: ToolContext;
  readonly credential: Credential;
  /** rest | grpc | mcp | queue | cli … for logs and audit. */
  readonly door: string;
  /** The caller's own limit, milliseconds from now. */
  readonly timeoutMs?: number;
  /** Aborted when the caller goes away. */
  readonly signal?: AbortSignal;
  /** The same for doors that can say it by a callback: cheaper than a signal, and on every call's path. */
  readonly whenGone?: (gone: () => void) => void;
  /** Progress, logs and partial results, for doors that can stream them. */
  readonly emit?: Emit;
  /** The toolset that it came through; set by the core and by no door. */
  readonly through?: ThroughToolset;
  /** The call that this one is a step of; set by NestedCalls and by no door. */
  readonly parent?: ParentCall;
  /** A call like it was admitted before, and is agreed to anew: a tool that tools alone call may be the one that it calls. */
  readonly isKept?: true;
  /** Set by a door that could not read the arguments: the core refuses the call with it, behind auth and audit. */
  readonly refusal?: ToolFailure;
  /** The id that a model's provider gave the call, where it came in that provider's form: the answer names it. */
  readonly providerCallId?: string;
  /** How long the caller would wait for the end of a call with the same idempotency key that is under way. */
  readonly waitMs?: number;
}

/** `tool` and `arguments` of the request are those that the toolset makes of it. */
export interface ThroughToolset {
  readonly toolsetName: string;
  /** Undefined: there is none of this name. */
  readonly toolset?: Toolset;
  /** The name that was called. */
  readonly tool: string;
  /** What searches the toolset, where that was called. */
  readonly runs?: KnownTool;
}

/**
 * Pointers into the arguments: integers beyond 2^53 − 1 that the caller wrote as numbers. They stand there as text, with
 * their digits, and validation refuses each that is not where the tool expects an integer of format int64.
 */
export type LargeIntegers = readonly string[];

/**
 * Which part of a call's way this is. `run`: all of it, at once. `admit`: as far as it can come without running, on terms of
 * its own where it has some (such as every day), which are part of what is approved; with `awaitsApproval` it can be kept
 * before a human has approved it. `resume`: the rest, later. `explain`:
 * nothing runs; whoever would decide tells how.
 */
export type Phase =
  | { readonly kind: 'run' }
  | { readonly kind: 'admit'; readonly terms?: JsonObject; readonly awaitsApproval?: true }
  | { readonly kind: 'resume'; readonly admitted: AdmittedCall }
  | Explaining;

/** A call that nobody makes: extensions that explain tell what they would do with it, and pass it on. */
export interface Explaining {
  readonly kind: 'explain';
  /** For whom it is explained, where that is not whoever asks. */
  readonly grant?: Grant;
  tell(extension: string, what: JsonObject): void;
}

/** Of all steps below one call that came through a door. */
export interface StepBudget {
  stepsLeft: number;
  /** When one of them last gave way to other calls, by performance.now(). */
  sliceSince?: number;
}

export interface ParentCall {
  readonly callId: string;
  /** The set of tools that the parent began with. */
  readonly snapshot: ToolSet;
  /** For whom the parent's own call was admitted, where it runs later: its steps speak for nobody else. */
  readonly grant?: Grant;
  /** 1 for a step of a call that came through a door. */
  readonly depth: number;
  /** Shared by every step below one call that came through a door. */
  readonly budget: StepBudget;
}

export interface ToolCall {
  readonly id: string;
  readonly request: ToolRequest;
  readonly phase: Phase;
  readonly arguments: JsonObject;
  readonly largeIntegers?: LargeIntegers;
  readonly context: ToolContext;
  /** Set by auth. */
  readonly principal?: Principal;
  /** Set once the tool is resolved: always there in the tool stage. */
  readonly function?: ToolFunction;
  /** What the operator set for this agent and tool; public and secret part apart. */
  readonly config: JsonObject;
  readonly sensitiveConfig: JsonObject;
  /** Set where the call's agent has something of its own configured for the tool. */
  readonly agentTool?: AgentTool;
  /** Set inside the executor of a call that has secrets: keeps them out of whatever is said meanwhile. */
  readonly scrubber?: CallScrubber;
  /** Aborted at the deadline, when the caller goes away, and when the gateway's drain time is over. */
  readonly signal: AbortSignal;
  /** By `Clock.now()`; `Clock.wall(receivedAt)` is its date. */
  readonly receivedAt: number;
  /** The same moment on the monotonic clock (`performance.now()`), for durations. */
  readonly startedAt: number;
  /** By `Clock.now()`; the smallest of the caller's, the gateway's and the tool's limit. */
  readonly deadline: number;
  /** The set of tools in force when the call came in; it stays this call's set to the end. */
  readonly snapshot: ToolSet;
  readonly progress: CallProgress;
}

/** What is configured for the call's agent and tool. */
export interface AgentTool {
  /** Another one after every change: an approval is good for no other. */
  readonly revision: number;
  /** Undefined: there are no secrets. Decrypts them, for one attempt. Rejects with ToolFailure UNAVAILABLE. */
  readonly openSecrets: (() => Promise<JsonObject>) | undefined;
  /** Their names. */
  readonly secretFields: readonly string[];
  /** Of a tool that is given the token of an account: its upstream did not take it. */
  readonly tokenRefused?: () => void;
}

export interface CallScrubber {
  readonly text: (text: string) => string;
  /** At most so many characters, scrubbed before they are cut. */
  readonly cut: (text: string, most: number) => string;
  readonly json: <Value>(value: Value) => Value;
  readonly jsonInSlices: <Value>(value: Value) => Promise<Value>;
}

/** The one mutable part of a call: what has become known so far, for the envelope's meta and for observers. */
export interface CallProgress {
  attempts: number;
  /** True from the moment the executor was entered. */
  executorEntered: boolean;
  /** An attempt before this one may have done something. */
  mayHaveRun?: true;
  /** What the executor was entered with: valid, with defaults, and masked where rules say so. */
  enteredWith?: JsonObject;
  /** It asks for capacity under a limit, or waits for it. Set by admission. */
  waiting?: boolean;
  /** Time spent inside the executor, all attempts together. */
  executorMs: number;
  cached: boolean;
  replayed: boolean;
  /** Set where a recording is replayed: whether the call was in it. */
  recorded?: boolean;
  fallback: boolean;
  /** Set where a tool on trial runs: the name of the function it stands in for. */
  insteadOf?: string;
  /** Components that worked in a reduced way for this call, e.g. `concurrency`. */
  degraded: string[];
  rateLimits: readonly RateLimitState[];
  traceId: string;
  /** False: nobody keeps the spans of this call, so that its trace id leads to nothing. */
  traceKept?: boolean;
  /** Of the slot that the call holds under a limit: greater than that of whoever held one before. Decimal digits. */
  fencingToken?: string;
  /** Set when the call came in a deprecated form: the function that it was turned into. */
  successor?: string;
  /** Set when the call runs another version of its tool than the one in force. */
  pinned?: ToolFunction;
  /** Why it runs the version that it runs. Undefined: because that is the one in force. */
  versionSource?: VersionSource;
  /** What the audit record says besides, e.g. the sandbox that ran a command. */
  notes?: { readonly [name: string]: JsonValue };
  /** Set where a rule of the tool found something in this call that a human has to agree to. */
  needsApproval?: true;
  /** The tool's operator does not trust what the tool answers. */
  untrusted?: true;
  /** What runs, as a human approved it for this call, or is asked to. Set by approval. */
  approvedFor?: string;
  /** The call may be kept, and run once a human has approved this. Set by approval. */
  awaited?: AskedApproval;
  /** Awaited before the executor is first entered, where it gives a promise; a call that it rejects for does not run. Set by audit. */
  beforeExecution?: (call: ToolCall) => Promise<void> | undefined;
  /** Awaited where the whole tool stage has answered with success, by what the tool gave and no fallback; never rejects. Set by chaining. */
  whenSucceeded?: () => Promise<void>;
  /** What it is about to do is on record. Set by audit. */
  isIntended?: true;
  /** What the call waits for, where nothing was done yet and that is known: said in place of TIMEOUT when its time is over. */
  stalled?: () => ToolFailure | undefined;
  /** It called other tools, each decided for its caller: what they gave is for nobody else. Set by the calls themselves. */
  calledOthers?: true;
  /** Who turned out to be calling, for the extensions outside auth. */
  caller?: { readonly principal: Principal; readonly context: ToolContext };
}

export type CallEvent =
  | { readonly kind: 'progress'; readonly fraction?: number; readonly message?: string }
  | { readonly kind: 'log'; readonly level: 'debug' | 'info' | 'warn' | 'error'; readonly message: string }
  | { readonly kind: 'partial'; readonly data: JsonValue };

export type Emit = (event: CallEvent) => void;

/** For whom it speaks that was admitted before; undefined: for whoever holds the credential of its request. */
export function grantOf({ phase, request }: Pick<ToolCall, 'phase' | 'request'>): Grant | undefined {
  if (phase.kind === 'explain') return phase.grant;
  return phase.kind === 'resume' ? phase.admitted.grant : request.parent?.grant;
}
