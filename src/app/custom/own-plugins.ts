// An operator's own plugins, as their modules are written. Published with the package as types: unified-tool-executor/plugin.
import type { z, ZodType } from 'zod';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { Executor, ExecutorPlugin, Extension, OptionFault } from '../../contract/plugin.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { fromHooks } from '../../core/pipeline/from-hooks.ts';
import type { Ports } from '../../ports/ports.ts';
import type { HookMethods } from './hook-methods.ts';

/** What a module of an executor is given, so that it needs no import of ours. */
export interface ExecutorApi {
  readonly ToolFailure: typeof ToolFailure;
  /** zod 4, with which options are described. */
  readonly z: typeof z;
}

/** The same for one of an extension. */
export interface ExtensionApi extends ExecutorApi {
  readonly fromHooks: typeof fromHooks;
}

export type PortName = keyof Ports;
/** Every port that there is. A plugin gets those that its `needs` names. */
export type AllPorts = Ports;

type NoOptions = Readonly<Record<string, never>>;

/** The names stand in `needs` as well, in the same order: reading a port that is not named there ends the start. */
type Needing<Needs extends readonly PortName[]> = Needs extends readonly []
  ? { readonly needs?: Needs }
  : { readonly needs: Needs };

type Described<Options> = [Options] extends [NoOptions]
  ? { readonly optionsSchema?: ZodType<Options> }
  : { readonly optionsSchema: ZodType<Options> };

interface OwnPlugin {
  /** None that the gateway or another module has. */
  readonly name: string;
  /** One line for operators. */
  readonly summary: string;
}

interface OwnExtensionParts<Options, Needs extends readonly PortName[]> extends OwnPlugin {
  /** Among extensions of one's own, higher is further out. gateway.yaml may say otherwise; 0 where neither does. */
  readonly priority?: number;
  /** Once, at the start: an extension, or an object with hooks. */
  create(ports: Pick<Ports, Needs[number]>): Extension<Options> | HookMethods<Options>;
  /** At load: what is wrong with a function's options beyond what the schema can say. */
  check?(fn: ToolFunction, options: Options): readonly OptionFault[];
}

/** What the module of an extension makes. `Needs` are the names of its ports: `['clock', 'log']`. */
export type OwnExtension<Options = NoOptions, Needs extends readonly PortName[] = []> = OwnExtensionParts<
  Options,
  Needs
> &
  Described<Options> &
  Needing<Needs>;

/** The export `plugin` of a module under `custom_extensions`. */
export type ExtensionModule<Options = NoOptions, Needs extends readonly PortName[] = []> = (
  api: ExtensionApi,
) => OwnExtension<Options, Needs>;

interface OwnExecutorParts<Options, Needs extends readonly PortName[], Settings>
  extends OwnPlugin, Pick<ExecutorPlugin<Options, never>, 'connectionTypes' | 'placeholders' | 'ready'> {
  /** Of `implementation_config`. */
  readonly optionsSchema: ZodType<Options>;
  /** Once, at the start. */
  create(needs: Pick<Ports, Needs[number]> & { readonly settings: Settings }): Executor<Options>;
}

type Configured<Settings> = [Settings] extends [undefined]
  ? { readonly settingsSchema?: undefined }
  : { settingsSchema(configDir: string): ZodType<Settings> };

/** An executor; its name is the `tool_type`. `Settings` are what gateway.yaml says under `executors.<name>`. */
export type OwnExecutor<
  Options,
  Needs extends readonly PortName[] = [],
  Settings = undefined,
> = OwnExecutorParts<Options, Needs, Settings> & Needing<Needs> & Configured<Settings>;

/** The export `executor` of a module under `custom_executors`; it may be the executor itself, too. */
export type ExecutorModule<Options, Needs extends readonly PortName[] = [], Settings = undefined> = (
  api: ExecutorApi,
) => OwnExecutor<Options, Needs, Settings> | Promise<OwnExecutor<Options, Needs, Settings>>;

export type { HookMethods } from './hook-methods.ts';
export type { Hooks } from '../../core/pipeline/from-hooks.ts';
export type {
  Connection,
  Executor,
  ExecutorTarget,
  Extension,
  LaterPhase,
  Layer,
  Next,
  OptionFault,
  PreparedFunction,
  RequestExtension,
  ToolExtension,
} from '../../contract/plugin.ts';
export type { Emit, ToolCall, ToolRequest } from '../../contract/call/tool-call.ts';
export type { ToolRefusal, ToolResponse, ToolResult } from '../../contract/call/tool-response.ts';
export type { ToolFailure } from '../../contract/call/tool-failure.ts';
export type { ToolFunction } from '../../contract/tool/tool-function.ts';
export type { ToolSpec } from '../../contract/tool/tool-spec.ts';
export type { JsonObject, JsonValue } from '../../contract/json.ts';
export type { Clock } from '../../ports/clock.ts';
export type { Log } from '../../ports/telemetry/log.ts';
export type { Metrics } from '../../ports/telemetry/metrics.ts';
