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

  constructor(schemas: ForeignSchemas, now: () => number) {
    this.#schemas = schemas;
    this.#now = now;
  }

  /** The definitions of one set: its time starts. */
  begin(): ScreeningRound {
    for (const [hash, until] of this.#costly) if (this.#now() >= until) this.#forget(hash);
    const until = this.#now() + BUDGET_MS;
    return new ScreeningRound((hash, definition) => {
      const known = this.#known.get(hash);
      if (known !== undefined) return known;
      return this.#now() > until ? undefined : this.#screen(hash, definition);
    });
  }

  /** What the round did not ask about is not kept. */
  end({ used }: ScreeningRound): void {
    for (const hash of this.#known.keys()) if (!used.has(hash)) this.#forget(hash);
  }

  close(): Promise<void> {
    return this.#schemas.close();
  }

  #screen(hash: string, definition: JsonObject): Promise<Screened> {
    const screened = screenDefinition(definition, (schema) => this.#lint(schema, hash));
    this.#known.set(hash, screened);
    screened.catch(() => this.#forget(hash));
    return screened;
  }

  #forget(hash: string): void {
    this.#known.delete(hash);
    this.#costly.delete(hash);
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

/** One set being looked at. Two may be under way: a list that is late, and what is kept meanwhile. */
export class ScreeningRound {
  readonly used = new Set<string>();
  readonly #screened: (hash: string, definition: JsonObject) => Promise<Screened> | undefined;
  #isIncomplete = false;

  constructor(screened: (hash: string, definition: JsonObject) => Promise<Screened> | undefined) {
    this.#screened = screened;
  }

  /** Some definitions could not be looked at, for reasons that are not theirs. */
  get isIncomplete(): boolean {
    return this.#isIncomplete;
  }

  async screen(hash: string, definition: JsonObject): Promise<Screened> {
    this.used.add(hash);
    const screened = this.#screened(hash, definition);
    if (screened !== undefined) return screened;
    this.#isIncomplete = true;
    const why = 'the schemas before it took all the time there is';
    return { refused: `was not looked at yet: ${why}; it is looked at again soon` };
  }
}
