// HandlerFiles: reads handler modules, each once for all the tools that name it, and again when it has changed.
import { resolve } from 'node:path';
import { readHandler, type HandlerFile } from './load-handler.ts';
import type { JsOptions } from './options.ts';

const MOST_HELD = 256;

export class HandlerFiles {
  readonly #held = new Map<string, Promise<HandlerFile>>();

  /** As `readHandler`; where the files are what they were, one look at their times instead. */
  async read(options: JsOptions, baseDir: string): Promise<HandlerFile> {
    const { handler, trusted, files = {} } = options;
    const key = JSON.stringify([trusted === true, resolve(baseDir, handler), files]);
    const held = this.#held.get(key);
    if (held === undefined) return this.#readAnew(key, options, baseDir);
    const file = await held;
    return (await file.sources.haveChanged()) ? this.#readAnew(key, options, baseDir) : file;
  }

  async #readAnew(key: string, options: JsOptions, baseDir: string): Promise<HandlerFile> {
    const reading = readHandler(options, baseDir);
    this.#held.delete(key);
    this.#held.set(key, reading);
    const [oldest] = this.#held.keys();
    if (this.#held.size > MOST_HELD && oldest !== undefined) this.#held.delete(oldest);
    try {
      return await reading;
    } catch (error) {
      if (this.#held.get(key) === reading) this.#held.delete(key);
      throw error;
    }
  }
}
