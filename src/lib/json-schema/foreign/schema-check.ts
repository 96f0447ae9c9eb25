// SchemaCheck: a schema ready for the event loop, as far as that can spare the time, and for a thread.
import { isSlowToCompile } from '../lint/compile-cost.ts';
import type { ForeignSchemas, ForeignValidator } from './foreign-schemas.ts';
import { createValidator, type Validator, type ValidatorOptions } from '../validator.ts';

export interface SchemaCheck {
  /** Undefined: it is applied in the thread alone, because somebody else wrote it or compiling it would hold the event loop. */
  readonly here: Validator | undefined;
  /** For what would hold the event loop. */
  readonly inThread: ForeignValidator;
}

/** Nothing is started, and nothing compiled, before the first value. `isForeign`: somebody else wrote the schema. */
export function schemaCheck(
  threads: ForeignSchemas,
  schema: object,
  { isForeign = false, ...options }: ValidatorOptions & { readonly isForeign?: boolean } = {},
): SchemaCheck {
  let inThread: ForeignValidator | undefined;
  return {
    here: isForeign || isSlowToCompile(schema) ? undefined : createValidator(schema, options),
    get inThread(): ForeignValidator {
      return (inThread ??= threads.validatorOf(schema, options));
    },
  };
}
