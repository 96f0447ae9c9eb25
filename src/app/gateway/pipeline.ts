// Puts the pipeline together at boot: the two lists or gateway.yaml's order, options merged and checked, custom ones placed.
import type {
  Extension,
  Layer,
  PreparedFunction,
  RequestExtension,
  ToolExtension,
} from '../../contract/plugin.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { Problem } from '../../contract/tool/loaded-tools.ts';
import type { ShownTo, ToolFunction } from '../../contract/tool/tool-function.ts';
import type { PipelineStep, PipelineView } from '../../api/tokens.ts';
import type { NamedLayer } from '../../core/pipeline/build-pipeline.ts';
import type { ToolLayer } from '../../core/compile/compile-tool.ts';
import type { CustomExtension } from '../custom/custom-extensions.ts';
import { REQUEST_EXTENSIONS, TOOL_EXTENSIONS, type AnyExtensionPlugin } from '../../extensions/index.ts';
import { extensionSpan } from '../../infra/telemetry/spans.ts';
import { orderOf, POLICY_ORDER, type OrderFault } from './pipeline-order.ts';
import type { Ports } from '../../ports/ports.ts';
import type { Histogram } from '../../ports/telemetry/metrics.ts';
import { SettingsError } from '../../settings/problems/settings-error.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import { problemAt, readSource } from '../../settings/settings-source.ts';
import { CALLS_SERIES } from '../../ports/telemetry/series/calls.ts';

interface Step<Each extends Extension<unknown> = Extension<unknown>> {
  readonly plugin: AnyExtensionPlugin;
  readonly extension: Each;
  /** The gateway's. */
  readonly options: unknown;
  readonly seconds: Histogram;
  readonly took?: NamedLayer['took'];
}

export class Pipeline {
  readonly request: readonly NamedLayer[];
  readonly view: PipelineView;
  readonly #tool: readonly Step<ToolExtension<unknown>>[];
  readonly #settings: Settings;
  readonly #steps: readonly Step[];
  /** Of the tool stage, where gateway.yaml's order does not name them. */
  readonly #leftOut: readonly Step<ToolExtension<unknown>>[];
  readonly #enforcesPolicy: boolean;

  /** Throws SettingsError when the order of gateway.yaml names an extension that is not there, or cannot keep what is asked of it. */
  constructor(settings: Settings, ports: Ports, custom: readonly CustomExtension[]) {
    this.#settings = settings;
    const steps = extensionsWith(custom).map((plugin) => newStep(plugin, settings, ports));
    const { request, tool, isPolicyEnforced, faults } = orderOf(settings, {
      request: steps.filter(isOfRequest),
      tool: steps.filter(isOfTool),
      custom,
    });
    if (faults.length > 0) throw new SettingsError(problemsOf(faults, settings));
    this.#tool = tool;
    this.#steps = [...request, ...tool];
    this.#leftOut = steps.filter(isOfTool).filter((step) => !tool.includes(step));
    this.#enforcesPolicy = isPolicyEnforced;
    this.request = request.flatMap((step) => named(step, step.extension.prepare(step.options)));
    this.view = { request: request.map(viewOf), tool: this.#tool.map(viewOf) };
  }

  /** The tool stage of one function, as its extensions prepare it. Throws what one of them says is wrong with the tool. */
  layersFor(fn: ToolFunction, executor?: PreparedFunction): readonly ToolLayer[] {
    for (const step of this.#leftOut) {
      const { name } = step.plugin;
      if (!NEVER_LEFT_OUT.has(name) || this.#prepared(step, fn, executor) === undefined) continue;
      throw new Error(
        `pipeline.tool of gateway.yaml does not name "${name}", so that the rules of this tool would do nothing`,
      );
    }
    if (!this.#enforcesPolicy && fn.spec.extensions['policy'] !== undefined)
      throw new Error(`pipeline.tool: ${POLICY_ORDER}`);
    return this.#tool.flatMap((step) => {
      const { phases = ONLY_WHEN_IT_RUNS } = step.extension;
      return named(step, this.#prepared(step, fn, executor)).map((layer) => ({ ...layer, phases }));
    });
  }

  /** To whom lists show a function: to those whom no extension hides it from. Undefined: to everybody. */
  shownTo(fn: ToolFunction): ShownTo | undefined {
    const conditions = this.#tool
      .map((step) => step.extension.shownTo?.(fn, this.#optionsFor(step, fn)))
      .filter((each) => each !== undefined);
    return conditions.length === 0 ? undefined : (viewer) => conditions.every((each) => each(viewer));
  }

  #prepared(step: Step<ToolExtension<unknown>>, fn: ToolFunction, executor?: PreparedFunction) {
    return step.extension.prepare(fn, this.#optionsFor(step, fn), executor);
  }

  #optionsFor({ plugin, options }: Step, fn: ToolFunction): unknown {
    const own = fn.spec.extensions[plugin.name];
    return own === undefined ? options : optionsOf(plugin, this.#settings, own);
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#steps.map(async ({ extension }) => extension.close?.()));
  }
}

/** All there are: those that are built in, then an operator's own. */
export function extensionsWith(custom: readonly CustomExtension[]): readonly AnyExtensionPlugin[] {
  return [...REQUEST_EXTENSIONS, ...TOOL_EXTENSIONS, ...custom.map(({ plugin }) => plugin)];
}

function problemsOf(faults: readonly OrderFault[], { configFile }: Settings): readonly Problem[] {
  const source = readSource(configFile, false);
  return faults.map((fault) => problemAt(fault, source, process.env));
}

function newStep(plugin: AnyExtensionPlugin, settings: Settings, ports: Ports): Step {
  const extension = plugin.create(ports);
  const seconds = ports.metrics.histogram(CALLS_SERIES.ute_pipeline_stage_duration_seconds).with(plugin.name);
  const { name } = plugin;
  const took: NamedLayer['took'] = (call, from, to) => extensionSpan(name, call, from, to);
  const traced = settings.telemetry.otlp_endpoint !== undefined;
  return { plugin, extension, options: optionsOf(plugin, settings), seconds, ...(traced && { took }) };
}

/** Who wrote rules about content, or of modes, relies on them. */
const NEVER_LEFT_OUT: ReadonlySet<string> = new Set(['argument-guard', 'result-guard', 'modes']);
const ONLY_WHEN_IT_RUNS: ToolLayer['phases'] = ['run'];

function isOfRequest(step: Step): step is Step<RequestExtension<unknown>> {
  return step.extension.stage === 'request';
}

function isOfTool(step: Step): step is Step<ToolExtension<unknown>> {
  return step.extension.stage === 'tool';
}

function named({ plugin, extension, seconds, took }: Step, layer: Layer | undefined): readonly NamedLayer[] {
  if (layer === undefined) return [];
  const { onFailure, explains = false } = extension;
  return [{ name: plugin.name, onFailure, layer, seconds, explains, ...(took !== undefined && { took }) }];
}

function optionsOf(plugin: AnyExtensionPlugin, settings: Settings, own: JsonObject = {}): unknown {
  return plugin.optionsSchema.parse({ ...settings.extensions[plugin.name], ...own });
}

function viewOf({ plugin, extension }: Step): PipelineStep {
  return { name: plugin.name, summary: plugin.summary, onFailure: extension.onFailure };
}
