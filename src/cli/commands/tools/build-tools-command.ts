// `ute build-tools`: checks tool folders as the gateway would, and writes what it serves of them: one file, with a version of its content.
import { rename, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import type { Problem } from '../../../contract/tool/loaded-tools.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts';
import type { ToolFunction } from '../../../contract/tool/tool-function.ts';
import { FORMATS } from '../../../formats/tool-lists.ts';
import { describeProblem } from '../../../lib/text/describe-problem.ts';
import { readText } from '../../../lib/text/read-text.ts';
import { HANDLER_FILE, toolFolders } from '../../../lib/tool-folders/folder-files.ts';
import { readToolFolder, type ReadToolFolder } from '../../../lib/tool-folders/read-tool-folder.ts';
import {
  readRegistry,
  REGISTRY_FILE,
  registryOf,
  registryText,
  type RegistryDocument,
  type RegistryTool,
} from '../../../lib/tool-folders/registry-document.ts';
import type { CliIo } from '../../cli-io.ts';
import { CliFailure, EXIT, type ExitCode } from '../../exit-code.ts';
import { ownSettings } from '../../own-settings.ts';
import { gitCommitOf } from './git-commit.ts';

export function addBuildToolsCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  program
    .command('build-tools [dir]')
    .summary('check tool folders and build their registry')
    .description(
      'Checks the tool folders in a folder (tools when left out): schema.json, doc_summary.md, doc.md and handler.js of each, as a\n' +
        'gateway of the same settings would, and tells every problem at once. Without one it writes tool_registry.json beside them,\n' +
        'with a version that is made of their content. Ends with 1 when there are problems; nothing is written then.',
    )
    .option('--check', 'write nothing; end with 1 where the registry that is there is another one')
    .option('--json', 'print JSON')
    .action(async (dir: string | undefined, options: BuildOptions) => {
      finish(await build(resolve(io.cwd, dir ?? 'tools'), options, io));
    });
}

interface BuildOptions {
  readonly check?: true;
  readonly json?: true;
}

type Built = { readonly registry: RegistryDocument } | { readonly problems: readonly Problem[] };

async function build(root: string, { check, json }: BuildOptions, io: CliIo): Promise<ExitCode> {
  const built = await registryIn(root, io);
  if ('problems' in built) {
    const problems = built.problems.map((problem) => seenFrom(io.cwd, problem));
    if (json === true) io.stdout(`${JSON.stringify({ ok: false, problems }, null, 2)}\n`);
    else for (const problem of problems) io.stdout(`${describeProblem(problem)}\n`);
    return EXIT.failed;
  }
  const { registry } = built;
  const file = join(root, REGISTRY_FILE);
  const { version, tools } = registry;
  const isCurrent = (await versionIn(file)) === version;
  // The same content stays the same file, time and commit included.
  if (check !== true && !isCurrent) await replace(file, registryText(registry));
  const ok = check !== true || isCurrent;
  const shown = relative(io.cwd, file);
  if (json === true)
    io.stdout(`${JSON.stringify({ ok, version, tools: tools.length, file: shown }, null, 2)}\n`);
  else if (ok)
    io.stdout(`ok: ${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}, version ${version}: ${shown}\n`);
  else io.stdout(`${shown} is not of these folders, which are version ${version}: build it again\n`);
  return ok ? EXIT.ok : EXIT.failed;
}

/** Everything that is wrong at once: with the folders, and with what they declare. */
async function registryIn(root: string, io: CliIo): Promise<Built> {
  const names = await toolFolders(root).catch((error: unknown) => {
    throw new CliFailure(
      EXIT.usage,
      `${root} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
  if (names.length === 0) throw new CliFailure(EXIT.usage, `${root} holds no tool folder`);
  const folders = await Promise.all(names.map((name) => readToolFolder(root, name)));
  const { withUnservedGateway } = await import('../../../app/gateway/validate-tools.ts');
  const loader = { type: 'tool-folder', path: root };
  const settings = { ...ownSettings(io), loaders: [loader] };
  return withUnservedGateway(settings, { online: false }, async ({ registry }, { problems }) => {
    if (problems.length > 0) return { problems };
    const snapshot = registry.snapshot();
    const tools = folders.map((folder) =>
      registryTool(folder, snapshot.functions, snapshot.providerName.bind(snapshot)),
    );
    const gitCommit = await gitCommitOf(root);
    return { registry: registryOf(tools, { gitCommit, buildTimestamp: new Date().toISOString() }) };
  });
}

function registryTool(
  { folder, tool }: ReadToolFolder,
  functions: readonly ToolFunction[],
  providerName: (name: string) => string,
): RegistryTool {
  const fn = functions.find(({ name }) => name === folder.name);
  if (tool === undefined || fn === undefined) throw new Error(`the tool ${folder.name} was not loaded`);
  const { value } = tool;
  const metadata = isJsonObject(value['metadata']) ? value['metadata'] : {};
  const { output_schema: output } = value;
  return {
    toolId: folder.name,
    category: textOf(metadata['category']),
    jsonSchema: objectOf(value['input_schema']),
    ...(output !== undefined && { outputSchema: objectOf(output) }),
    providerSchemas: providerSchemasOf(fn, providerName),
    summary: textOf(metadata['summary']),
    documentation: textOf(metadata['documentation']),
    handlerPath: `${folder.name}/${HANDLER_FILE}`,
    files: { ...folder.code },
    declaration: value,
  };
}

function providerSchemasOf(fn: ToolFunction, providerName: (name: string) => string): JsonObject {
  const { prompt: _text, ...formats } = FORMATS;
  return Object.fromEntries(
    Object.entries(formats).map(([name, format]) => [
      name,
      JSON.parse(format.entry(fn, providerName(fn.name), false).text) as JsonValue,
    ]),
  );
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

async function versionIn(file: string): Promise<string | undefined> {
  const read = await readText(file);
  const found = 'text' in read ? readRegistry(read.text) : undefined;
  return found !== undefined && 'registry' in found ? found.registry.version : undefined;
}

/** Whoever reads it meanwhile reads the one or the other. Throws CliFailure. */
async function replace(file: string, text: string): Promise<void> {
  const draft = `${file}.${process.pid}`;
  try {
    await writeFile(draft, text, { flag: 'wx' });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw new CliFailure(EXIT.failed, `${file} cannot be written: ${(error as Error).message}`);
  }
}

/** Files below the current folder by their short names, as compilers write them. */
function seenFrom(cwd: string, problem: Problem): Problem {
  const short = relative(cwd, problem.file);
  return short === '' || short.startsWith('..') ? problem : { ...problem, file: short };
}
