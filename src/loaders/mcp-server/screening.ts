// Screening: looks at each definition once, with a bound on the time that one load may take for it.
import type { JsonObject, JsonSchema } from '../../contract/json.ts';
import { ForeignCheckError, type ForeignSchemas } from '../../lib/json-schema/foreign-schemas.ts';
import type { SchemaProblem } from '../../lib/json-schema/schema-linter.ts';
import { screenDefinition, type Screened } from './screen-definition.ts';

/** Thousands of honest schemas take less. */
const BUDGET_MS = 30_000;

export class Screening {
  readonly #schemas: ForeignSchemas;
  readonly #now: () => number;
  /** By the hash of the definition. */
  readonly #known = new Map<string, Promise<Screened>>();
  readonly #used = new Set<string>();
  #until = 0;

  constructor(schemas: ForeignSchemas, now: () => number) {
    this.#schemas = schemas;
    this.#now = now;
  }

  /** A load begins: its time starts. */
  begin(): void {
    this.#until = this.#now() + BUDGET_MS;
    this.#used.clear();
  }

  screen(hash: string, definition: JsonObject): Promise<Screened> {
    this.#used.add(hash);
    const known = this.#known.get(hash);
    if (known !== undefined) return known;
    if (this.#now() > this.#until)
      return Promise.resolve({
        refused: 'was not looked at: the schemas before it took all the time there is',
      });
    const screened = screenDefinition(definition, (schema) => this.#lint(schema));
    this.#known.set(hash, screened);
    screened.catch(() => this.#known.delete(hash));
    return screened;
  }

  /** It is over: what it did not ask about is not kept. */
  end(): void {
    for (const hash of this.#known.keys()) if (!this.#used.has(hash)) this.#known.delete(hash);
  }

  close(): Promise<void> {
    return this.#schemas.close();
  }

  async #lint(schema: JsonSchema): Promise<readonly SchemaProblem[]> {
    try {
      return await this.#schemas.lint(schema);
    } catch (error) {
      if (!(error instanceof ForeignCheckError) || error.why !== 'failed') throw error;
      return [{ path: [], message: 'takes too much time or memory to be looked at' }];
    }
  }
}
