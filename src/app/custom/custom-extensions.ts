// Loads an operator's own extensions from the paths that gateway.yaml names. They run inside the gateway: trusted code.
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { Extension, RequestExtension, ToolExtension } from '../../contract/plugin.ts';
import { fromHooks } from '../../core/pipeline/from-hooks.ts';
import { REQUEST_EXTENSIONS, TOOL_EXTENSIONS, type AnyExtensionPlugin } from '../../extensions/index.ts';
import type { Ports } from '../../ports/ports.ts';
import { fromHookMethods, hasHookMethods, type HookMethods } from './hook-methods.ts';
import { loadEach, thrownText, type ModuleProblem } from './load-each.ts';
import { namedPorts } from './named-ports.ts';
import type { ExtensionApi, OwnExtension, PortName } from './own-plugins.ts';
import { takenNames } from './taken-names.ts';

export interface CustomExtension {
  readonly plugin: AnyExtensionPlugin;
  readonly priority: number;
}

/** As a module writes it, of whatever options. */
type Written = Partial<OwnExtension<unknown, readonly PortName[]>>;

/** What the module's `plugin` function is given, so that it needs no import of ours. */
const EXTENSION_API: ExtensionApi = Object.freeze({ fromHooks, ToolFailure, z });

/** As far as they can be loaded, and what is wrong with the others: each with the module's path and what was expected of it. */
export async function loadCustomExtensions(
  entries: readonly { readonly path: string; readonly priority?: number | undefined }[],
): Promise<{ readonly custom: readonly CustomExtension[]; readonly problems: readonly ModuleProblem[] }> {
  const { modules, problems } = await loadEach(entries, async ({ path, priority }) => {
    const loaded = await loadPlugin(path);
    return { ...loaded, priority: priority ?? loaded.priority };
  });
  const named = modules.map(({ index, entry: { path }, module: { plugin } }) => ({
    index,
    path,
    name: plugin.name,
  }));
  const taken = takenNames('extension', named, [...REQUEST_EXTENSIONS, ...TOOL_EXTENSIONS]);
  return { custom: modules.map(({ module }) => module), problems: [...problems, ...taken] };
}

async function loadPlugin(path: string): Promise<CustomExtension> {
  let exported: { plugin?: unknown };
  try {
    exported = (await import(pathToFileURL(path).href)) as { plugin?: unknown };
  } catch (cause) {
    throw new Error(`custom extension ${path} cannot be imported: ${thrownText(cause)}`, { cause });
  }
  if (typeof exported.plugin !== 'function') {
    throw new Error(
      `custom extension ${path} must export a function \`plugin\` that returns name, summary and create`,
    );
  }
  const plugin = made(exported.plugin as (api: ExtensionApi) => Written | undefined, path);
  const { name, summary, create, check, needs = [], priority = 0 } = plugin;
  const { optionsSchema = z.strictObject({}) } = plugin;
  const who = `custom extension ${path}`;
  if (typeof name !== 'string' || typeof summary !== 'string' || typeof create !== 'function') {
    throw new Error(
      `${who}: plugin() must return {name, summary, create, needs?, priority?, optionsSchema?}`,
    );
  }
  const createWith = (ports: Ports) => extensionOf(create.call(plugin, namedPorts(ports, needs, who)), who);
  return { plugin: { name, summary, check, optionsSchema, create: createWith }, priority };
}

function made(plugin: (api: ExtensionApi) => Written | undefined, path: string): Written {
  try {
    return plugin(EXTENSION_API) ?? {};
  } catch (cause) {
    throw new Error(`custom extension ${path} cannot be made: ${thrownText(cause)}`, { cause });
  }
}

/** Throws Error where `create` has not made an extension: at the start, and not at the first call. */
function extensionOf(
  made: Partial<ToolExtension<unknown> | RequestExtension<unknown>> | HookMethods,
  who: string,
): Extension<unknown> {
  if (made.prepare === undefined && hasHookMethods(made)) return fromHookMethods(made);
  const { stage, onFailure, prepare } = made;
  const wrong = [
    stage !== 'request' && stage !== 'tool' && "stage: expected 'request' or 'tool'",
    onFailure !== 'deny' && onFailure !== 'continue' && "onFailure: expected 'deny' or 'continue'",
    typeof prepare !== 'function' &&
      'prepare: expected a function that returns a layer (call, next) => …, or nothing; or before_execute, after_execute, on_error',
  ].filter((each) => each !== false);
  if (wrong.length > 0) throw new Error(`${who}: create() returns ${wrong.join('; ')}`);
  return made as Extension<unknown>;
}
