// The pieces that declarations are made of: zod schemas that say in a sentence what they expect.
import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../../contract/json.ts';
import { parseInstant } from '../../../lib/schedule/instant.ts';
import { didYouMean } from '../../../lib/text/did-you-mean.ts';

/** Of `If-None-Match: *`, where no other value makes sense. Generators take no constant for a header. */
export const ONLY_A_STAR = '^\\*$';

/** Made when it is first asked for: most shapes are needed by the document alone, and a start waits for none. */
export type Shape<Schema extends z.ZodType = z.ZodType> = () => Schema;
export type ValueOf<Of extends Shape> = z.output<ReturnType<Of>>;
/** As it is on the wire. */
export type WireOf<Of extends Shape> = z.input<ReturnType<Of>>;

export function shape<Schema extends z.ZodType>(make: () => Schema): Shape<Schema> {
  let made: Schema | undefined;
  return () => (made ??= make());
}

/** Which shapes are components of the document, and what each is called there. */
const components = new Map<z.ZodType, string>();
const unmade: Shape[] = [];

export function named<Schema extends z.ZodType>(id: string, make: () => Schema): Shape<Schema> {
  const of = shape(() => {
    const schema = make();
    components.set(schema, id);
    return schema;
  });
  unmade.push(of);
  return of;
}

export function componentName(schema: z.ZodType): string | undefined {
  return components.get(schema);
}

/** All of them, made. */
export function allComponents(): ReadonlyMap<z.ZodType, string> {
  for (const make of unmade.splice(0)) make();
  return components;
}

export const text = (description?: string) => described(z.string(), description);
export const flag = (description?: string) => described(z.boolean('must be true or false'), description);
export const count = (description?: string) => described(z.int().min(0), description);
export const number = () => z.number();
export const time = () => z.string().meta({ format: 'date-time' });

/** A time that is said, with its offset; `expected`: what anything else is told. */
export function moment(expected: string) {
  const said = z.string(expected).meta({ format: 'date-time' });
  return said.transform((text, context) => {
    const time = parseInstant(text);
    if (time !== undefined) return time;
    context.addIssue(expected);
    return z.NEVER;
  });
}

export const list = <Item extends z.ZodType>(item: Item) => z.array(item).readonly();
export const hash = (description?: string) => described(z.string().regex(/^[0-9a-f]{64}$/), description);

/** A query parameter that is off where it is left out. */
export function switchedOn(description: string) {
  const read = (said: unknown) => (said === 'true' || said === 'false' ? said === 'true' : said);
  return z.preprocess(read, flag().default(false)).describe(description);
}

/** Any JSON object, taken as it is. */
export const object = (description?: string) =>
  described(z.custom<JsonObject>(isJsonObject, 'must be an object'), description).meta({
    type: 'object',
    additionalProperties: true,
  });

/** Refuses any other word, and says which was meant. */
export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  const error = ({ input }: { input?: unknown }) => {
    const near = typeof input === 'string' ? didYouMean(input, words) : undefined;
    const hint = near === undefined ? '' : `; did you mean "${near}"?`;
    return `must be one of ${words.join(', ')}${hint}`;
  };
  return z.enum(words, { error });
}

export function wholeNumber(least: number, most: number) {
  return z.int(`must be a whole number from ${least} to ${most}`).min(least).max(most);
}

export function textOf(least: number, most: number) {
  if (least === 0) return z.string(`must be a string of at most ${most} characters`).max(most);
  return z.string(`must be a string of ${least} to ${most} characters`).min(least).max(most);
}

/** A body that is an object; `like` shows one. A field that is not known is refused by name. */
export function strictBody<Fields extends z.ZodRawShape>(like: string, fields: Fields) {
  const error = ({ code }: { code?: string }) =>
    code === 'unrecognized_keys' ? undefined : `must be an object: ${like}`;
  return z.strictObject(fields, { error });
}

function described<Schema extends z.ZodType>(schema: Schema, description: string | undefined): Schema {
  return description === undefined ? schema : schema.describe(description);
}
