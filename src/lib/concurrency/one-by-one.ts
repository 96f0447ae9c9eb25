// OneByOne: work on the same thing is done in turn, on others side by side. Whoever waits holds nothing meanwhile: no connection.

export class OneByOne {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const done = before.then(work);
    const ended = done.catch(() => undefined);
    this.#last.set(key, ended);
    try {
      return await done;
    } finally {
      if (this.#last.get(key) === ended) this.#last.delete(key);
    }
  }
}
