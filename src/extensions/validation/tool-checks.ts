// The checks of a tool: its schemas, ready for the event loop and for a thread.
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { ForeignSchemas } from '../../lib/json-schema/foreign/foreign-schemas.ts';
import { int64PlacesOf, type Int64Places } from '../../lib/json-schema/int64-places.ts';
import { ownNamesOf, type OwnNames } from '../../lib/json-schema/property-names.ts';
import { schemaCheck, type SchemaCheck } from '../../lib/json-schema/foreign/schema-check.ts';
import type { ValidatorOptions } from '../../lib/json-schema/validator.ts';
import type { Clock } from '../../ports/clock.ts';
import { declaresBusinessId } from './business-id.ts';

export interface Checks {
  readonly fn: ToolFunction;
  readonly input: SchemaCheck;
  readonly output: SchemaCheck | undefined;
  /** [parameter, config field] pairs whose default is the agent's config. */
  readonly fromConfig: readonly (readonly [string, string])[];
  readonly declaresBusinessId: boolean;
  /** Where the arguments may hold integers beyond 2^53; undefined: nowhere. */
  readonly integers: Int64Places | undefined;
  /** Undefined: no argument has another name for any model provider. */
  readonly ownNames: OwnNames | undefined;
}

export class CheckCompiler {
  /** Two threads: what a schema of somebody else does there delays nobody but its like. */
  readonly #own: ForeignSchemas;
  readonly #foreign: ForeignSchemas;

  /** Nothing is started, and no schema compiled, before the first call that needs it. */
  constructor(clock: Clock) {
    this.#own = new ForeignSchemas((ms, task) => clock.after(ms, task));
    this.#foreign = new ForeignSchemas((ms, task) => clock.after(ms, task));
  }

  checksOf(fn: ToolFunction): Checks {
    const parameters = fn.action?.parameters ?? [];
    return {
      fn,
      input: this.#checkOf(fn, fn.inputSchema, {
        dropsUnexpected: fn.spec.undeclaredArguments === 'drop',
        readsIntegers: true,
      }),
      output: fn.outputSchema && this.#checkOf(fn, fn.outputSchema, {}),
      fromConfig: parameters.flatMap(({ name, defaultFromConfig: field }) =>
        field === undefined ? [] : [[name, field] as const],
      ),
      declaresBusinessId: declaresBusinessId(fn),
      integers: int64PlacesOf(fn.inputSchema),
      ownNames: ownNamesOf(fn.inputSchema),
    };
  }

  async close(): Promise<void> {
    await Promise.all([this.#own.close(), this.#foreign.close()]);
  }

  #checkOf({ spec }: ToolFunction, schema: object, options: ValidatorOptions): SchemaCheck {
    const isForeign = spec.foreign !== undefined;
    return schemaCheck(isForeign ? this.#foreign : this.#own, schema, { ...options, isForeign });
  }
}
