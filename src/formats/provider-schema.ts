// Provider schema: a tool's input schema as a provider's SDK takes it. Arguments are always checked against the original.
import type { JsonSchema } from '../contract/json.ts';
import { convertSchema } from './convert-schema.ts';
import { toRootObject } from './root-object.ts';
import { DIALECTS, STRICT_DIALECTS, type SchemaProvider } from './schema-dialects.ts';
import { canBeStrict, makeStrict } from './strict-schema.ts';

export interface ProviderSchema {
  readonly schema: JsonSchema;
  /** JSON pointers, inside the original, of what the provider's schema does not say. */
  readonly lossy: readonly string[];
  /** True if `schema` obeys the provider's strict mode. */
  readonly strict: boolean;
}

/** With `strict`, a schema that strict mode cannot express comes back in the ordinary form, `strict: false`. */
export function toProviderSchema(
  schema: JsonSchema,
  provider: SchemaProvider,
  strict = false,
): ProviderSchema {
  const lossy: string[] = [];
  const root = toRootObject(schema, lossy);
  const strictDialect = strict ? STRICT_DIALECTS[provider] : undefined;
  if (strictDialect !== undefined) {
    const lossyStrict = [...lossy];
    const subset = convertSchema(root, strictDialect, lossyStrict);
    if (canBeStrict(subset)) {
      return { schema: makeStrict(subset, provider === 'openai'), lossy: lossyStrict, strict: true };
    }
  }
  return { schema: convertSchema(root, DIALECTS[provider], lossy), lossy, strict: false };
}
