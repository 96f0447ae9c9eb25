// The javascript executor: a tool is an exported function of an operator's own module, run in a worker thread.
import type { Executor, ExecutorPlugin, ExecutorTarget, PreparedFunction } from '../../contract/plugin.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { HandlerFiles } from './handler-files.ts';
import { runInProcess, type Handler } from './in-process.ts';
import { chooseExport, importHandler, type HandlerFile } from './load-handler.ts';
import { optionsSchema, type JsOptions } from './options.ts';
import { javascriptSettingsSchema } from './settings.ts';
import { WorkerExecutor, type WorkerNeeds } from './worker-executor.ts';

export const javascriptExecutor: ExecutorPlugin<JsOptions, WorkerNeeds> = {
  name: 'javascript',
  summary:
    'Calls a function of an ES module in a worker thread, or inside the gateway process if it is trusted.',
  optionsSchema,
  settingsSchema: javascriptSettingsSchema,
  create: (needs) => new JavascriptExecutor(needs),
};

class JavascriptExecutor implements Executor<JsOptions> {
  readonly #needs: WorkerNeeds;
  readonly #workers: WorkerExecutor;
  readonly #files = new HandlerFiles();

  constructor(needs: WorkerNeeds) {
    this.#needs = needs;
    this.#workers = new WorkerExecutor(needs);
  }

  async prepare({ function: fn, options }: ExecutorTarget<JsOptions>): Promise<PreparedFunction> {
    const file = await this.#files.read(options, fn.spec.baseDir);
    if (options.trusted === true) return this.#prepareTrusted(file, fn, options);
    const { name, ...prepared } = await this.#workers.prepare(file, fn, options);
    return { ...prepared, render: rendering(options.handler, name), ...watching(file) };
  }

  close(): Promise<void> {
    return this.#workers.close();
  }

  async #prepareTrusted(file: HandlerFile, fn: ToolFunction, options: JsOptions): Promise<PreparedFunction> {
    const module = await importHandler(options.handler, file);
    const exported = Object.keys(module);
    const functions = exported.filter((name) => typeof module[name] === 'function');
    const name = chooseExport(options, fn, { exported, functions });
    return {
      execute: runInProcess(module[name] as Handler, fn, this.#needs),
      render: rendering(options.handler, name),
      ...watching(file),
    };
  }
}

function watching({ sources, everything }: HandlerFile): Pick<PreparedFunction, 'isStale' | 'contentHash'> {
  return {
    isStale: () => sources.haveChanged(),
    contentHash: async () => ((await everything.haveChanged()) ? undefined : everything.contents),
  };
}

function rendering(handler: string, name: string): NonNullable<PreparedFunction['render']> {
  return (call: ToolCall) => ({ handler, export: name, arguments: call.arguments });
}
