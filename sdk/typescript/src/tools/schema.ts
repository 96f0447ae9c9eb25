// What a tool takes, as its author says it: JSON Schema, or a schema of a library that can write one (zod 4, valibot, arktype).
export type JsonSchema = { readonly [keyword: string]: unknown };

/** https://standardschema.dev, with its part for JSON Schema: what those libraries have in common. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Checked<Output> | Promise<Checked<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;
      readonly output: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;
    };
  };
}

export interface Issue {
  readonly message: string;
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
}
type Checked<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: ReadonlyArray<Issue> };

export type Schema<Value> = StandardSchema<Value> | JsonSchema;

export function isStandard(schema: object): schema is StandardSchema {
  return '~standard' in schema;
}

/** As the gateway takes it. `side`: what goes in differs from what comes out where a schema has defaults. */
export function jsonSchemaOf(schema: Schema<unknown>, side: 'input' | 'output', what: string): JsonSchema {
  if (!isStandard(schema)) return schema;
  const { jsonSchema, vendor } = schema['~standard'];
  if (jsonSchema === undefined)
    throw new TypeError(
      `${what}: this version of ${vendor} writes no JSON Schema; give JSON Schema, or a newer one.`,
    );
  const { $schema: _, ...written } = jsonSchema[side]({ target: 'draft-2020-12' });
  return written;
}

/** Text for the model that made the arguments. */
export function issueText({ path = [], message }: Issue): string {
  const keys = path.map((each) => String(typeof each === 'object' ? each.key : each));
  return `${keys.map((key) => `/${key}`).join('') || 'arguments'}: ${message}`;
}
