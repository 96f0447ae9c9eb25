// Finds a handler module: an ES module of the operator's own, known by its content.
import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { HandlerSources } from './handler-sources.ts';
import type { JsOptions } from './options.ts';

export type HandlerModule = { readonly [name: string]: unknown };

export interface HandlerFile {
  readonly path: string;
  /** With the content's hash: another content is another module, and calls in flight keep the one they began with. */
  readonly url: string;
  readonly text: string;
  /** Where its code has to be what it was: sha256 of each file, by URL. */
  readonly pinned?: { readonly [url: string]: string };
  readonly sources: HandlerSources;
  /** With what it imports, however it is run: what an approval is good for. */
  readonly everything: HandlerSources;
}

const EXTENSIONS: ReadonlySet<string> = new Set(['.js', '.mjs']);

/**
 * What it imports belongs to it only where it is imported anew with it: in a new thread, but not in this process, which
 * imports nothing twice. Throws Error with a sentence for the operator.
 */
export async function readHandler(
  { handler, trusted, files }: JsOptions,
  baseDir: string,
): Promise<HandlerFile> {
  const path = await findHandler(handler, baseDir);
  const sources = await HandlerSources.read(path, trusted !== true);
  const everything = trusted === true ? await HandlerSources.read(path, true) : sources;
  const other = files === undefined ? undefined : everything.firstOther(dirname(path), files);
  if (other !== undefined)
    throw new Error(`handler: ${other} is not what the registry of tools was built from: build it again.`);
  const text = await readFile(path, 'utf8');
  const url = pathToFileURL(path);
  url.searchParams.set('v', sources.digest);
  const pinned = files && pinnedBy(dirname(path), files);
  return { path, url: url.href, text, sources, everything, ...(pinned && { pinned }) };
}

function pinnedBy(folder: string, files: NonNullable<JsOptions['files']>): HandlerFile['pinned'] {
  const urls = Object.entries(files).map(([path, sha256]) => [
    pathToFileURL(join(folder, path)).href,
    sha256,
  ]);
  return Object.fromEntries(urls) as { readonly [url: string]: string };
}

/** Imports it into this process. Throws Error with a sentence for the operator. */
export async function importHandler(handler: string, { url }: HandlerFile): Promise<HandlerModule> {
  try {
    return (await import(/* @vite-ignore */ url)) as HandlerModule;
  } catch (cause) {
    throw notImportable(
      handler,
      cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause),
      cause,
    );
  }
}

export function notImportable(handler: string, why: string, cause?: unknown): Error {
  return new Error(`handler: ${handler} cannot be imported: ${why}`, { cause });
}

/**
 * Which of a module's functions serves a callable. Throws a sentence for the operator where there is none.
 * `functions` are the names of exports that are functions, `exported` those of all.
 */
export function chooseExport(
  options: JsOptions,
  { action }: ToolFunction,
  { functions, exported }: { readonly functions: readonly string[]; readonly exported: readonly string[] },
): string {
  const byDefault = action === undefined ? ['execute'] : [action.name, 'execute'];
  const names = options.export === undefined ? byDefault : [options.export];
  const found = names.find((name) => functions.includes(name));
  if (found !== undefined) return found;
  throw new Error(
    `handler: ${options.handler} exports no function named ${names.join(' or ')}; it exports ${exported.join(', ') || 'nothing'}.`,
  );
}

async function findHandler(handler: string, baseDir: string): Promise<string> {
  if (!EXTENSIONS.has(extname(handler))) {
    throw new Error(`handler: expected the path of a .js or .mjs file, found "${handler}".`);
  }
  const file = resolve(baseDir, handler);
  const found = await stat(file).catch((cause: unknown) => {
    throw new Error(
      `handler: there is no file "${handler}", seen from the folder of the tool's definition.`,
      { cause },
    );
  });
  if (!found.isFile()) throw new Error(`handler: expected a file, found the folder "${handler}".`);
  // Links are followed once: one module under two names would hold its state twice.
  return realpath(file);
}
