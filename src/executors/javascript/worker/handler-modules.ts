// HandlerModules: the modules of one thread, run from the text that the gateway read and not from what lies on disk by now.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { HandlerText } from '../threads/messages.ts';
import type { Leftovers } from './leftovers.ts';
import type { PrototypeWatch } from './prototype-watch.ts';

export type Exports = { readonly [name: string]: unknown };

export class HandlerModules {
  readonly #texts = new Map<string, string>();
  /** sha256 of files that have to be what they were. */
  readonly #pinned = new Map<string, string>();
  readonly #loaded = new Map<string, Promise<Exports>>();
  readonly #watch: PrototypeWatch;
  readonly #leftovers: Leftovers;

  constructor(watch: PrototypeWatch, leftovers: Leftovers) {
    this.#watch = watch;
    this.#leftovers = leftovers;
    registerHooks({
      resolve: (specifier, context, next) =>
        this.#texts.has(specifier)
          ? { url: specifier, format: 'module', shortCircuit: true }
          : next(specifier, context),
      load: (url, context, next) => {
        const source = this.#texts.get(url) ?? this.#pinnedSource(url);
        return source === undefined ? next(url, context) : { format: 'module', source, shortCircuit: true };
      },
    });
  }

  load({ url, text, pinned = {} }: HandlerText): Promise<Exports> {
    let loaded = this.#loaded.get(url);
    if (loaded === undefined) {
      for (const [file, sha256] of Object.entries(pinned)) this.#pinned.set(file, sha256);
      this.#texts.set(url, text);
      loaded = this.#import(url);
      // Whoever asks for it later hears of it.
      loaded.catch(() => {});
      this.#loaded.set(url, loaded);
    }
    return loaded;
  }

  /** Undefined: it was never sent. */
  find(url: string): Promise<Exports> | undefined {
    return this.#loaded.get(url);
  }

  /** Undefined: any content will do. Throws where it is another one. */
  #pinnedSource(url: string): string | undefined {
    const [file = ''] = url.split(/[?#]/, 1);
    const sha256 = this.#pinned.get(file);
    if (sha256 === undefined) return undefined;
    const source = readFileSync(fileURLToPath(file), 'utf8');
    if (hash('sha256', source) === sha256) return source;
    throw new Error(`${basename(file)} is not what the registry of tools was built from`);
  }

  async #import(url: string): Promise<Exports> {
    const clean = !this.#watch.spoiled;
    const module = await this.#leftovers.importing(async () => (await import(url)) as Exports);
    if (clean) this.#watch.accept();
    return module;
  }
}
