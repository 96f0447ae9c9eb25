// Integers of 64 bits in Ajv: beyond 2^53 they are checked as BigInt, by the same keywords as any number.
import { _, type Ajv, type CodeKeywordDefinition } from 'ajv';
import { functionIn } from './linear-keywords.ts';
import { schemaGraph } from './lint/schema-graph.ts';

type Schema = { readonly [keyword: string]: unknown };

const NO_LIMITS = { depth: Infinity, nesting: Infinity, nodes: Infinity };
/** In place of `type` where it names a kind of number. */
export const NUMBER_TYPE = 'x-ute-number-type';

export function isInt64({ type, format }: Schema): boolean {
  return format === 'int64' && typesIn(type).includes('integer');
}

/** Where text may be meant as text, it is never taken for a number. */
export function takesText(schema: Schema): boolean {
  const { type, enum: listed, const: only } = schema;
  if (type !== undefined) return typesIn(type).includes('string');
  const values = [...(Array.isArray(listed) ? (listed as unknown[]) : []), only];
  return (
    values.some((value) => typeof value === 'string') || TEXT_KEYWORDS.some((keyword) => keyword in schema)
  );
}

const TEXT_KEYWORDS = ['pattern', 'minLength', 'maxLength', 'contentEncoding', 'contentMediaType'];

function typesIn(type: unknown): readonly unknown[] {
  return Array.isArray(type) ? (type as unknown[]) : [type];
}

/** The same schema for an Ajv that `takeBigIntegers` was said to. */
export function withBigIntegers(schema: object): object {
  const copy = structuredClone(schema);
  for (const node of schemaGraph(copy, NO_LIMITS).nodes) {
    const own: { [keyword: string]: unknown } = node.schema;
    const types = typesIn(own['type']);
    delete own[NUMBER_TYPE];
    if (!types.includes('integer') && !types.includes('number')) continue;
    if (isInt64(own)) delete own['format'];
    own[NUMBER_TYPE] = own['nullable'] === true ? [...types, 'null'] : types;
    delete own['type'];
    delete own['nullable'];
  }
  return copy;
}

/** JavaScript compares a BigInt with a number exactly, whichever is larger. */
export function takeBigIntegers(ajv: Ajv): void {
  ajv.addKeyword(numberType);
  for (const [keyword, words, fits] of RANGES) {
    ajv.removeKeyword(keyword);
    ajv.addKeyword(rangeKeyword(keyword, words, fits));
  }
}

type Comparable = number | bigint;

const RANGES: readonly (readonly [string, string, (value: Comparable, limit: number) => boolean])[] = [
  ['minimum', '>=', (value, limit) => value >= limit],
  ['maximum', '<=', (value, limit) => value <= limit],
  ['exclusiveMinimum', '>', (value, limit) => value > limit],
  ['exclusiveMaximum', '<', (value, limit) => value < limit],
  ['multipleOf', 'multiple of', isMultiple],
];

function isMultiple(value: Comparable, divisor: number): boolean {
  if (typeof value === 'number') return Number.isInteger(value / divisor);
  return Number.isInteger(divisor) ? value % BigInt(divisor) === 0n : Number.isInteger(1 / divisor);
}

function rangeKeyword(
  keyword: string,
  words: string,
  fits: (value: Comparable, limit: number) => boolean,
): CodeKeywordDefinition {
  const isFine = (value: unknown, limit: number): boolean => !isNumber(value) || fits(value, limit);
  return {
    keyword,
    schemaType: 'number',
    error: {
      message: ({ schemaCode }) => _`${`must be ${words} `} + ${schemaCode}`,
      params: ({ schemaCode }) => _`{limit: ${schemaCode}}`,
    },
    code: (cxt) => cxt.pass(_`${functionIn(cxt, isFine)}(${cxt.data}, ${cxt.schemaCode})`),
  };
}

function isNumber(value: unknown): value is Comparable {
  return typeof value === 'number' || typeof value === 'bigint';
}

const numberType: CodeKeywordDefinition = {
  keyword: NUMBER_TYPE,
  schemaType: 'array',
  error: {
    message: 'must be of another type',
    params: ({ schemaCode }) => _`{type: ${schemaCode}}`,
  },
  code(cxt) {
    const isOfType = typeTest(cxt.schema as readonly unknown[]);
    cxt.pass(_`${functionIn(cxt, isOfType)}(${cxt.data})`);
  },
};

function typeTest(types: readonly unknown[]): (value: unknown) => boolean {
  const takes = new Set(types);
  return (value) => {
    if (value === null) return takes.has('null');
    if (typeof value === 'bigint') return true;
    if (typeof value === 'number')
      return takes.has('number') ? Number.isFinite(value) : takes.has('integer') && Number.isInteger(value);
    return takes.has(Array.isArray(value) ? 'array' : typeof value);
  };
}
