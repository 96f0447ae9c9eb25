// Which methods a path takes: what a request with another one is told.
import type { FastifyInstance } from 'fastify';

export class KnownRoutes {
  readonly #methods = new Map<string, Set<string>>();

  /** Before the routes are added. */
  constructor(server: FastifyInstance) {
    server.addHook('onRoute', ({ url, method }) => {
      const methods = this.#methods.get(url) ?? new Set<string>();
      this.#methods.set(url, methods);
      for (const each of [method].flat()) methods.add(each);
    });
  }

  /** Empty: there is no such path. */
  methodsOf(path: string): readonly string[] {
    const steps = path.split('/');
    const found = new Set<string>();
    for (const [pattern, methods] of this.#methods) {
      if (!matches(pattern.split('/'), steps)) continue;
      for (const method of methods) found.add(method);
    }
    return [...found].toSorted();
  }
}

/** `:name` stands for any step, `*` for all that follow. */
function matches(pattern: readonly string[], steps: readonly string[]): boolean {
  if (pattern.at(-1) === '*' && pattern.length > 1)
    return pattern.slice(0, -1).every((step, index) => step === steps[index]);
  if (pattern.length !== steps.length) return false;
  return pattern.every(
    (step, index) => step === steps[index] || (step.startsWith(':') && steps[index] !== ''),
  );
}
