// The one plugin shape (name, summary, schema, create) and the three things plugins build.
import type { ZodType } from 'zod';
import type { JsonObject } from './json.ts';
import type { LoadedTools, Problem, RawDeclaration } from './tool/loaded-tools.ts';
import type { Origin } from './tool/origin.ts';
import type { KeptTools } from './tool/source-away.ts';
import type { Emit, ToolCall } from './call/tool-call.ts';
import type { ConnectionLimit, ShownTo, ToolFunction } from './tool/tool-function.ts';
import type { ToolResponse, ToolResult } from './call/tool-response.ts';
import type { ToolSpec } from './tool/tool-spec.ts';

/**
 * Declares a plugin. `create` names the ports it needs in its parameter type and gets nothing else.
 * `Options` is what one tool (executors, extensions) or one entry of gateway.yaml (loaders) may say.
 */
export interface Plugin<Options, Built, Needs> {
  /** The folder's name, and the YAML value that selects it. */
  readonly name: string;
  /** One line for the reference page. */
  readonly summary: string;
  readonly optionsSchema: ZodType<Options>;
  create(needs: Needs): Built;
}

export type Next = (call: ToolCall) => Promise<ToolResponse>;

/**
 * One layer of the onion: what an extension does with a call. Refuse by throwing ToolFailure. After `await next(call)` the
 * code always runs: `next` never throws. `return next(call)`, without awaiting it, is how a layer stands aside: from then on
 * it costs nothing and is waited for no more.
 */
export type Layer = (call: ToolCall, next: Next) => Promise<ToolResponse> | Told;

/** A layer that stands aside, and is told of the answer: what it costs to be waited for is most of what such a layer costs. */
export interface Told {
  /** As `next` gave it. */
  readonly answer: Promise<ToolResponse>;
  /** Before whoever waits for the answer goes on. What it throws is logged, and changes nothing, whatever `onFailure` says. */
  tell(response: ToolResponse): void;
}

export type LaterPhase = 'admit' | 'run';

interface AnyExtension {
  /** What a crash of the extension itself means: refuse the call, or go on without the extension. */
  readonly onFailure: 'deny' | 'continue';
  close?(): Promise<void>;
}

/** Sees every request, unknown tools and wrong credentials included. */
export interface RequestExtension<Options> extends AnyExtension {
  readonly stage: 'request';
  /** At the start, once. Undefined leaves the extension out. */
  prepare(options: Options): Layer | undefined;
  /** As that of a tool extension. */
  readonly explains?: boolean;
}

/** Sees calls whose tool is known: `call.principal` is there, and `call.function` is the one it was prepared for. */
export interface ToolExtension<Options> extends AnyExtension {
  readonly stage: 'tool';
  /**
   * In which phases of a call that is accepted now and runs later it has its say: before it is accepted, when it runs, or
   * both. Left out: when it runs. A call that is executed at once goes through all of it either way.
   */
  readonly phases?: readonly LaterPhase[];
  /**
   * At load, for each function: whatever is the same for all of its calls is made here. Undefined leaves the extension out
   * of the function's chain: nothing is paid for what a tool does not use. What it throws keeps the tool from being loaded.
   * `executor`: what says what a call would do; left out where there is none.
   */
  prepare(
    fn: ToolFunction,
    options: Options,
    executor?: Pick<PreparedFunction, 'render' | 'check'>,
  ): Layer | undefined;
  /**
   * At load, for each function: to whom lists show it, as far as that can be said before there are arguments. Undefined: to
   * everybody. Whoever is not shown a tool is answered as if there were none of its name. It never stands for a refusal.
   */
  shownTo?(fn: ToolFunction, options: Options): ShownTo | undefined;
  /** True: it also has its say where a caller asks how a call would be decided, and nothing runs; see `Explaining`. */
  readonly explains?: boolean;
}

export type Extension<Options> = RequestExtension<Options> | ToolExtension<Options>;

export interface Executor<Options> {
  /**
   * At load: resolves everything a call will need and checks that it exists. Throws ToolFailure or
   * Error with a sentence for the operator. Runs once per function and content, not once per reload.
   */
  prepare(target: ExecutorTarget<Options>): Promise<PreparedFunction> | PreparedFunction;
  /** What /readyz tells of it, under its name: what an operator must know before trusting it. */
  status?(): JsonObject;
  close?(): Promise<void>;
}

export interface ExecutorTarget<Options> {
  readonly function: ToolFunction;
  readonly options: Options;
  /** The connection that `options.connection` names, references already resolved. */
  readonly connection?: Connection;
}

export interface PreparedFunction {
  /** Runs one attempt. Must end soon after `call.signal` aborts. Throws ToolFailure or anything else. */
  execute(call: ToolCall, emit: Emit): Promise<ToolResult>;
  /**
   * What `execute` would do, for a dry run: the final argv, URL and body, SQL and parameters. Runs nothing,
   * shows no secret. Throws what `execute` would throw before it acts. Without it the tool cannot be run dry.
   */
  render?(call: ToolCall): JsonObject | Promise<JsonObject>;
  /** True if results are always plain JSON values (decoded from JSON text): spares the core a check. */
  readonly yieldsPlainJson?: boolean;
  /**
   * True once what `prepare` read (a handler's file) is not there any more as it was: the registry prepares the
   * function anew at its next look. Cheap: asked every few seconds.
   */
  isStale?(): boolean | Promise<boolean>;
  /**
   * What the function depends on outside of the gateway, e.g. `http:api.example.com:443` or `sql:<connection>`: all
   * functions that name it share one circuit breaker. Left out: there is none. A 5xx is reported as TRANSIENT, reason
   * `HTTP_5xx`; no connection and no answer as UNAVAILABLE or TIMEOUT, origin `gateway`.
   */
  readonly upstream?: string;
  /** True where the upstream only runs the tool's own code: that a call takes too long is not the upstream's fault. */
  readonly runsOwnCode?: boolean;
  /**
   * A hash of the code that a call runs besides what the declaration says: a handler's file, modules, a program. Looks at
   * it anew; undefined while it is not what was prepared. An approval is good for no other content.
   */
  contentHash?(): Promise<string | undefined>;
  /** Names of the tools that its declaration says it calls: what they run is part of what an approval is good for. */
  readonly calls?: readonly string[];
  /** Names of the tools that a call with these arguments is about, as `calls`. Takes any arguments. */
  callsOf?(args: JsonObject): readonly string[];
  /** Asked before a human is asked about a call. Throws what `execute` would throw before it acts. */
  check?(call: ToolCall): Promise<void>;
  /** Called when no snapshot in use holds the function any more. */
  close?(): Promise<void>;
}

/** A pool, host or account apart from tools. `settings` was checked by the schema of its type. */
export interface Connection {
  readonly name: string;
  readonly type: string;
  readonly settings: JsonObject;
  /** Set: it came out of a document from elsewhere, and only tools of that document use it. */
  readonly origin?: Origin;
  /** What references (`${env:…}`, `${file:…}`) brought into the settings: secret, wherever it appears. */
  readonly secrets?: readonly string[];
  /** Counts the calls of all tools over it. */
  readonly concurrency?: ConnectionLimit;
}

/** Executors whose options may name a connection say which types they take. */
export interface ExecutorPlugin<Options, Needs> extends Plugin<Options, Executor<Options>, Needs> {
  /** What gateway.yaml may say for the whole executor; `create` gets it, checked, as `needs.settings`. */
  settingsSchema?(configDir: string): ZodType;
  readonly connectionTypes?: { readonly [type: string]: ZodType };
  /** Awaited before options of tools of this type are checked: brings what only they need, as a parser does. */
  ready?(): Promise<void>;
  /** The option fields whose `{placeholder}`s must be parameters of the function. */
  placeholders?(options: Options): readonly { readonly name: string; readonly path: readonly string[] }[];
}

export interface ExtensionPlugin<Options, Needs> extends Plugin<Options, Extension<Options>, Needs> {
  /** At load: the tool as its callers see it and are held to it under these options, merged with the gateway's. */
  shape?(spec: ToolSpec, options: Options): ToolSpec;
  /** At load: what is wrong with a function's options, merged with the gateway's, beyond what the schema can say. */
  check?(fn: ToolFunction, options: Options): readonly OptionFault[];
}

export interface OptionFault {
  /** From the extension's options to the one that is wrong; empty: all of them together. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** What is wrong with a loader's own entry in gateway.yaml, as a problem at its place there; `path` starts in the entry. */
export type EntryProblem = (path: readonly string[], message: string) => Problem;

export interface Loader {
  /** Names a source that may be away, in warnings and series. Shows no secret. */
  readonly source?: string;
  /** False: neither a start nor a reload waits long for it, or fails without it; its tools come when it answers. */
  readonly required?: boolean;
  /**
   * The full set, or problems. Never a part of it in silence. Throws SourceAway where the source cannot be reached: keeping
   * what it gave last is the registry's part.
   */
  load(signal: AbortSignal): Promise<LoadedTools>;
  /** While the source is away: what counts instead of what it gave last. Undefined: nothing. */
  kept?(signal: AbortSignal): Promise<KeptTools | undefined>;
  /** What the last `load` brought is in force now. */
  taken?(): void;
  /** Calls `changed` whenever a new load may give something else; returns when `signal` aborts. */
  watch?(changed: () => void, signal: AbortSignal): Promise<void>;
  /** Of a source that the gateway itself writes to: what a load would bring with this tool in it, in place of its namesake. */
  draft?(tool: JsonObject & { readonly name: string }): Promise<Draft>;
  /** After the last load and watch: ends what it holds open. */
  close?(): Promise<void>;
}

export interface Draft {
  readonly loaded: LoadedTools;
  /** The tool's own, one of those that are loaded. */
  readonly declaration: RawDeclaration;
  /** Which state of the source it lies over. */
  readonly generation: number;
}

export interface LoaderPlugin<Options, Needs> extends Plugin<Options, LoaderFactory<Options>, Needs> {
  /** True if a load asks something beyond this machine: `ute validate` leaves it out unless told otherwise. */
  needsNetwork?(options: Options): boolean;
}
/** Written as a method's type, so that a shelf can hold loaders of different options (methods are bivariant). */
export type LoaderFactory<Options> = { open(options: Options): Loader }['open'];
