// Loads a handler module: an ES module of the operator's own, imported anew when its content changed.
import { createHash } from 'node:crypto';
import { readFile, realpath, stat } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

export type HandlerModule = { readonly [name: string]: unknown };

const EXTENSIONS: ReadonlySet<string> = new Set(['.js', '.mjs']);

/**
 * The content's hash is part of the module's URL: a reload runs changed code, while calls in flight keep
 * the module they began with. Throws Error with a sentence for the operator.
 */
export async function loadHandler(handler: string, baseDir: string): Promise<HandlerModule> {
  const file = await findHandler(handler, baseDir);
  const url = pathToFileURL(file);
  const hash = createHash('sha256').update(await readFile(file));
  url.searchParams.set('v', hash.digest('hex'));
  try {
    return (await import(/* @vite-ignore */ url.href)) as HandlerModule;
  } catch (cause) {
    const why = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    throw new Error(`handler: ${handler} cannot be imported: ${why}`, { cause });
  }
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
