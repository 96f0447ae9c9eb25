// Ajv as the gateway uses it: 2020-12 or draft-07, RE2 patterns, real date-times, defaults filled in, no coercion.
import { Ajv, type CodeKeywordDefinition, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { takeBigIntegers } from './int64-schema.ts';
import { useLinearKeywords } from './linear-keywords.ts';
import { re2Engine } from './re2-engine.ts';
import { spend } from './work-budget.ts';

const DRAFT_07 = /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/;
const DRAFT_2020_12 = /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;

export type Dialect = '2020-12' | 'draft-07';

// ajv-formats is CommonJS: under ESM its function is the module's default.
const addFormats = addFormatsModule.default;

const COMMON: Options = {
  strict: false,
  logger: false,
  validateSchema: false,
  inlineRefs: false,
  // Twice as fast to compile, and no slower to run: V8 does the same folding.
  code: { regExp: re2Engine, optimize: false },
};

/** Undefined: `$schema` names a dialect that is not supported. */
export function dialectOf(schema: object): Dialect | undefined {
  const { $schema } = schema as { $schema?: unknown };
  if ($schema === undefined) return '2020-12';
  if (typeof $schema !== 'string') return undefined;
  if (DRAFT_2020_12.test($schema)) return '2020-12';
  return DRAFT_07.test($schema) ? 'draft-07' : undefined;
}

/**
 * Compiles tools' schemas. With `allErrors` a validator does not stop at the first error; with `bigIntegers` it takes
 * schemas that `withBigIntegers` made.
 */
export function newSchemaAjv(dialect: Dialect, allErrors: boolean, bigIntegers = false): Ajv {
  const options: Options = {
    ...COMMON,
    allErrors,
    useDefaults: true,
    coerceTypes: false,
    // A parameter may be called `constructor`: only the value's own properties count.
    ownProperties: true,
    meta: false,
  };
  const ajv = dialect === 'draft-07' ? newDraft07(options) : new Ajv2020(options);
  useLinearKeywords(ajv);
  if (bigIntegers) takeBigIntegers(ajv);
  addFormats(ajv, { mode: 'full' });
  // The regular expression that ajv-formats has for it takes quadratic time: a minute for 256 KiB.
  ajv.addFormat('url', { type: 'string', validate: isWebAddress });
  for (const name of Object.keys(ajv.formats)) payForFormat(ajv, name);
  return ajv;
}

/** Draft-07 has no unevaluatedProperties; a root that is closed by the gateway has, in whatever dialect it is written. */
function newDraft07(options: Options): Ajv {
  const ajv = new Ajv({ ...options, unevaluated: true });
  const keyword = new Ajv2020(options).getKeyword('unevaluatedProperties');
  return ajv.addKeyword(keyword as CodeKeywordDefinition);
}

/** Nothing that is longer is a date, a time or a pattern that anybody wrote; their checks split it, or build on it. */
const MAX_LENGTHS = new Map(
  ['date', 'time', 'date-time', 'iso-time', 'iso-date-time', 'duration', 'regex'].map((name) => [
    name,
    4_096,
  ]),
);

/** The checks of texts take time that grows with the text: each character is a step. */
function payForFormat(ajv: Ajv, name: string): void {
  const format = ajv.formats[name];
  const own = typeof format === 'object' && !(format instanceof RegExp) ? format.validate : format;
  if (own === undefined || typeof own === 'boolean' || typeof own === 'string') return;
  if (typeof format === 'object' && 'type' in format && format.type === 'number') return;
  const fits = own instanceof RegExp ? (text: string) => own.test(text) : (own as (text: string) => boolean);
  const most = MAX_LENGTHS.get(name) ?? Infinity;
  ajv.addFormat(name, {
    type: 'string',
    validate(text: string) {
      spend(1 + text.length);
      return text.length <= most && fits(text);
    },
  });
}

/** Checks schemas against the meta-schema of their dialect. Patterns are judged by RE2 alone. */
export function newMetaAjv(dialect: Dialect): Ajv {
  const options: Options = { ...COMMON, allErrors: true, validateFormats: false };
  const ajv = dialect === 'draft-07' ? new Ajv(options) : new Ajv2020(options);
  useLinearKeywords(ajv);
  return ajv;
}

function isWebAddress(text: string): boolean {
  return /^(?:https?|ftp):\/\//i.test(text) && URL.canParse(text);
}
