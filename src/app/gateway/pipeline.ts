// Puts the pipeline together at boot: the two lists or gateway.yaml's order, options merged and checked, custom ones placed.
import type { Extension } from '../../contract/plugin.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { PipelineStep, PipelineView } from '../../api/tokens.ts';
import type { Layer } from '../../core/build-pipeline.ts';
import type { CustomExtension } from '../custom/custom-extensions.ts';
import { REQUEST_EXTENSIONS, TOOL_EXTENSIONS, type AnyExtensionPlugin } from '../../extensions/index.ts';
import { didYouMean } from '../../lib/text/did-you-mean.ts';
import type { Ports } from '../../ports/ports.ts';
import type { Settings } from '../../settings/settings-schema.ts';

type Stage = 'request' | 'tool';

interface Step {
  readonly plugin: AnyExtensionPlugin;
  readonly extension: Extension<unknown>;
  readonly layer: Layer;
}

const STAGE_BUCKETS = [0.000_01, 0.000_05, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.1, 1, 10];

export class Pipeline {
  readonly request: readonly Layer[];
  readonly view: PipelineView;
  readonly #tool: readonly Step[];
  readonly #settings: Settings;
  readonly #steps: readonly Step[];

  /** Throws Error when gateway.yaml names an extension that is not there, in the wrong stage, or with wrong options. */
  constructor(settings: Settings, ports: Ports, custom: readonly CustomExtension[]) {
    this.#settings = settings;
    const builtIn = [...REQUEST_EXTENSIONS, ...TOOL_EXTENSIONS];
    const steps = [...builtIn, ...custom.map(({ plugin }) => plugin)].map((plugin) =>
      newStep(plugin, settings, ports),
    );
    const request = inOrder(steps, 'request', settings.pipeline.request, REQUEST_EXTENSIONS, custom);
    const tool = inOrder(steps, 'tool', settings.pipeline.tool, TOOL_EXTENSIONS, custom);
    this.#tool = settings.replay === undefined ? tool : inReplayOrder(tool);
    this.#steps = [...request, ...this.#tool];
    refuseStrangers(
      Object.keys(settings.extensions),
      steps.map(({ plugin }) => plugin.name),
    );
    this.request = request.map(({ layer }) => layer);
    this.view = { request: request.map(viewOf), tool: this.#tool.map(viewOf) };
  }

  /** The tool stage of one function. Tools that set no options share the gateway's. */
  layersFor({ spec }: ToolFunction): readonly Layer[] {
    if (Object.keys(spec.extensions).length === 0) return this.#tool.map(({ layer }) => layer);
    return this.#tool.map(({ plugin, layer }) => {
      const own = spec.extensions[plugin.name];
      return own === undefined ? layer : { ...layer, options: optionsOf(plugin, this.#settings, own) };
    });
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#steps.map(async ({ extension }) => extension.close?.()));
  }
}

function newStep(plugin: AnyExtensionPlugin, settings: Settings, ports: Ports): Step {
  const extension = plugin.create(ports);
  const seconds = ports.metrics
    .histogram({
      name: 'ute_pipeline_stage_duration_seconds',
      help: 'Time spent in each step of the pipeline itself, without what it wraps.',
      labels: ['stage'],
      buckets: STAGE_BUCKETS,
    })
    .with(plugin.name);
  return {
    plugin,
    extension,
    layer: { name: plugin.name, extension, options: optionsOf(plugin, settings), seconds },
  };
}

function optionsOf(plugin: AnyExtensionPlugin, settings: Settings, own: JsonObject = {}): unknown {
  const parsed = plugin.optionsSchema.safeParse({ ...settings.extensions[plugin.name], ...own });
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(
    (issue) => `${['extensions', plugin.name, ...issue.path].join('.')}: ${issue.message}`,
  );
  throw new Error(issues.join('\n'));
}

/** The order of one stage: gateway.yaml's, else the list's; custom ones that no order names go innermost, by priority. */
function inOrder(
  steps: readonly Step[],
  stage: Stage,
  named: readonly string[] | undefined,
  builtIn: readonly AnyExtensionPlugin[],
  custom: readonly CustomExtension[],
): Step[] {
  const here = new Map(
    steps.filter(({ extension }) => extension.stage === stage).map((step) => [step.plugin.name, step]),
  );
  const names = named ?? builtIn.map(({ name }) => name);
  const ordered = names.map((name) => {
    const step = here.get(name);
    if (step === undefined) throw new Error(`pipeline.${stage}: ${unknownName(name, [...here.keys()])}`);
    return step;
  });
  const placed = custom
    .toSorted((a, b) => b.priority - a.priority)
    .flatMap(({ plugin }) => (names.includes(plugin.name) ? [] : (here.get(plugin.name) ?? [])));
  return [...ordered, ...placed];
}

const KEEPS_ANSWERS: ReadonlySet<string> = new Set(['idempotency', 'cache']);

/** What keeps answers stands behind the recording that gives them: neither gets to see what the other gave. */
function inReplayOrder(steps: readonly Step[]): Step[] {
  const keeping = steps.filter(({ plugin }) => KEEPS_ANSWERS.has(plugin.name));
  const rest = steps.filter((step) => !keeping.includes(step));
  const at = rest.findIndex(({ plugin }) => plugin.name === 'replay');
  if (at < 0)
    throw new Error(
      'pipeline.tool: names no "replay", so that the recording of replay.file would answer nothing',
    );
  return [...rest.slice(0, at + 1), ...keeping, ...rest.slice(at + 1)];
}

function refuseStrangers(names: readonly string[], known: readonly string[]): void {
  for (const name of names) {
    if (!known.includes(name)) throw new Error(`extensions: ${unknownName(name, known)}`);
  }
}

function unknownName(name: string, known: readonly string[]): string {
  const near = didYouMean(name, known);
  return `there is no extension "${name}" here${near === undefined ? '' : `; did you mean "${near}"?`} Known: ${known.join(', ')}`;
}

function viewOf({ plugin, extension }: Step): PipelineStep {
  return { name: plugin.name, summary: plugin.summary, onFailure: extension.onFailure };
}
