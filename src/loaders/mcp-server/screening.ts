// Screening: looks at each definition once, with a bound on the time that one load may take for it.
import type { JsonObject, JsonSchema } from '../../contract/json.ts';
import { ForeignCheckError, type ForeignSchemas } from '../../lib/json-schema/foreign/foreign-schemas.ts';
import type { SchemaProblem } from '../../lib/json-schema/lint/schema-linter.ts';
import { screenDefinition, type Screened } from './screen-definition.ts';

/** Thousands of honest schemas take less. */
const BUDGET_MS = 30_000;
/** What took too much is looked at again after so long: perhaps it was not the schema's fault. */
const AGAIN_MS = 600_000;

export class Screening {
  readonly #schemas: ForeignSchemas;
  readonly #now: () => number;
  /** By the hash of the definition. */
  readonly #known = new Map<string, Promise<Screened>>();
  /** Until when those that took too much are left alone. */
  readonly #costly = new Map<string, number>();
  readonly #used = new Set<string>();
  #until = 0;
  #isIncomplete = false;

  constructor(schemas: ForeignSchemas, now: () => number) {
    this.#schemas = schemas;
    this.#now = now;
  }

  /** Some definitions could not be looked at in this load, for reasons that are not theirs. */
  get isIncomplete(): boolean {
    return this.#isIncomplete;
  }

  /** A load begins: its time starts. */
  begin(): void {
    this.#until = this.#now() + BUDGET_MS;
    this.#isIncomplete = false;
    this.#used.clear();
    for (const [hash, until] of this.#costly) if (this.#now() >= until) this.#forget(hash);
  }

  screen(hash: string, definition: JsonObject): Promise<Screened> {
    this.#used.add(hash);
    const known = this.#known.get(hash);
    if (known !== undefined) return known;
    if (this.#now() > this.#until)
      return Promise.resolve(this.#later('the schemas before it took all the time there is'));
    const screened = screenDefinition(definition, (schema) => this.#lint(schema, hash));
    this.#known.set(hash, screened);
    screened.catch(() => this.#forget(hash));
    return screened;
  }

  /** It is over: what it did not ask about is not kept. */
  end(): void {
    for (const hash of this.#known.keys()) if (!this.#used.has(hash)) this.#forget(hash);
  }

  #later(why: string): Screened {
    this.#isIncomplete = true;
    return { refused: `was not looked at yet: ${why}; it is looked at again soon` };
  }

  #forget(hash: string): void {
    this.#known.delete(hash);
    this.#costly.delete(hash);
  }

  close(): Promise<void> {
    return this.#schemas.close();
  }

  async #lint(schema: JsonSchema, hash: string): Promise<readonly SchemaProblem[]> {
    try {
      return await this.#schemas.lint(schema);
    } catch (error) {
      if (!(error instanceof ForeignCheckError) || error.why !== 'failed') throw error;
      this.#costly.set(hash, this.#now() + AGAIN_MS);
      return [{ path: [], message: 'takes too much time or memory to be looked at' }];
    }
  }
}
