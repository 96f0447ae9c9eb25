// Provider schema: a tool's input schema as a provider's SDK takes it. Arguments are always checked against the original.
import type { JsonSchema } from '../../contract/json.ts';
import { propertySpellings } from '../../lib/json-schema/property-names.ts';
import type { ProviderRules } from '../provider-rules.ts';
import { convertSchema } from './convert-schema.ts';
import { withUsedDefinitions } from './definitions.ts';
import { withOpenCycles } from './open-cycles.ts';
import { plainSchema } from './plain-schema.ts';
import { toRootObject } from './root-object.ts';
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
  source: JsonSchema,
  provider: ProviderRules,
  strict = false,
): ProviderSchema {
  const lossy: string[] = [];
  const root = withUsedDefinitions(toRootObject(plainSchema(source), lossy));
  const spell = spellingBy(source, provider.propertyName);
  if (strict && provider.strict !== undefined) {
    const rules = provider.strict;
    const lossyStrict = [...lossy];
    const subset = withUsedDefinitions(convertSchema(root, { rules, spell, lossy: lossyStrict }));
    if (canBeStrict(subset, rules)) {
      return { schema: makeStrict(subset, rules), lossy: lossyStrict, strict: true };
    }
  }
  const rules = provider.schema;
  const converted = withUsedDefinitions(convertSchema(root, { rules, spell, lossy }));
  const schema = rules.opensCycles === true ? withOpenCycles(converted) : converted;
  return { schema, lossy, strict: false };
}

/** A name that the provider takes stays as it is, also where another one refuses it. */
function spellingBy(schema: JsonSchema, accepted: RegExp | undefined): (name: string) => string {
  const spellings = accepted === undefined ? undefined : propertySpellings(schema);
  return (name) => (accepted?.test(name) === false ? (spellings?.get(name) ?? name) : name);
}
