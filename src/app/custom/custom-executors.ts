// Loads an operator's own executors from the paths that gateway.yaml names. They run inside the gateway: trusted code.
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { EXECUTORS, type AnyExecutorPlugin } from '../../executors/index.ts';
import { loadEach, thrownText, type ModuleProblem } from './load-each.ts';
import { namedPorts } from './named-ports.ts';
import type { ExecutorApi } from './own-plugins.ts';
import { takenNames } from './taken-names.ts';

/** What a module that exports a function is given, so that it needs no import of ours. */
const EXECUTOR_API: ExecutorApi = Object.freeze({ ToolFailure, z });

/** Names that definitions use for an executor of another name. */
const ALIASES: readonly string[] = ['sandbox'];

/** As far as they can be loaded, and what is wrong with the others: each with the module's path and what was expected of it. */
export async function loadCustomExecutors(
  entries: readonly { readonly path: string }[],
): Promise<{ readonly plugins: readonly AnyExecutorPlugin[]; readonly problems: readonly ModuleProblem[] }> {
  const { modules, problems } = await loadEach(entries, ({ path }) => loadPlugin(path));
  const named = modules.map(({ index, entry: { path }, module: { name } }) => ({ index, path, name }));
  const taken = takenNames('executor', named, EXECUTORS, ALIASES);
  return { plugins: modules.map(({ module }) => module), problems: [...problems, ...taken] };
}

interface Exports {
  readonly executor?: unknown;
  readonly default?: unknown;
}

async function loadPlugin(path: string): Promise<AnyExecutorPlugin> {
  let exported: Exports;
  try {
    exported = (await import(pathToFileURL(path).href)) as Exports;
  } catch (cause) {
    throw new Error(`custom executor ${path} cannot be imported: ${thrownText(cause)}`, { cause });
  }
  const found = exported.executor ?? exported.default;
  if (found === undefined) throw refusal(path, 'expected an export `executor`, or a default export');
  return checked(await made(found, path), path);
}

async function made(found: unknown, path: string): Promise<unknown> {
  if (typeof found !== 'function') return found;
  try {
    return await (found as (api: ExecutorApi) => unknown)(EXECUTOR_API);
  } catch (cause) {
    throw new Error(`custom executor ${path} cannot be made: ${thrownText(cause)}`, { cause });
  }
}

type Check = (value: unknown) => boolean;

const isFunction: Check = (value) => typeof value === 'function';
/** Of zod 4, whose inside tells which keys a schema knows. */
const isSchema: Check = (value) =>
  typeof value === 'object' && value !== null && '_zod' in value && 'safeParse' in value;
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

/** As a module writes it: it names the ports that `create` gets. */
type OwnPlugin = AnyExecutorPlugin & { readonly needs?: readonly string[] };

/** Each part of an ExecutorPlugin: how it is known, and in what words it is missed. */
const PARTS: readonly (readonly [part: keyof OwnPlugin, check: Check, expected: string])[] = [
  [
    'name',
    (value) => typeof value === 'string' && /^[a-z][a-z0-9_-]{0,63}$/.test(value),
    'a lower-case word: it is the tool_type that selects the executor',
  ],
  ['summary', (value) => typeof value === 'string' && /\S/.test(value), 'one line for operators'],
  ['optionsSchema', isSchema, 'a zod schema of implementation_config'],
  ['create', isFunction, 'a function that returns { prepare }'],
  ['needs', optional(isListOfNames), 'a list of the ports that create gets, or nothing'],
  ['settingsSchema', optional(isFunction), 'a function that returns a zod schema, or nothing'],
  ['ready', optional(isFunction), 'a function that returns a promise, or nothing'],
  ['placeholders', optional(isFunction), 'a function, or nothing'],
  ['connectionTypes', optional(isMapOfSchemas), 'a map of zod schemas by type, or nothing'],
];

function isListOfNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function isMapOfSchemas(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.values(value).every(isSchema);
}

/** A copy of the known parts; `create` as well is held to what it promises. */
function checked(plugin: unknown, path: string): AnyExecutorPlugin {
  if (typeof plugin !== 'object' || plugin === null) {
    throw refusal(path, 'expected { name, summary, optionsSchema, create }, or a function that returns it');
  }
  const parts = plugin as OwnPlugin;
  const wrong = PARTS.filter(([part, check]) => !check(parts[part]));
  if (wrong.length > 0)
    throw refusal(path, wrong.map(([part, , expected]) => `${part}: expected ${expected}`).join('; '));
  const { name, summary, optionsSchema, connectionTypes, needs = [] } = parts;
  return {
    name,
    summary,
    optionsSchema,
    connectionTypes,
    settingsSchema: parts.settingsSchema?.bind(parts),
    ready: parts.ready?.bind(parts),
    placeholders: parts.placeholders?.bind(parts),
    create(ports) {
      const executor: unknown = parts.create(namedPorts(ports, needs, `custom executor ${path}`));
      const isOne = typeof executor === 'object' && executor !== null && 'prepare' in executor;
      if (!isOne || !isFunction(executor.prepare))
        throw refusal(path, 'create() must return an object with a function prepare');
      return executor as ReturnType<AnyExecutorPlugin['create']>;
    },
  };
}

function refusal(path: string, why: string): Error {
  return new Error(`custom executor ${path}: ${why}`);
}
