// Ajv as the gateway uses it: 2020-12 or draft-07, RE2 patterns, real date-times, defaults filled in, no coercion.
import { Ajv, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { re2Engine } from './re2-engine.ts';

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

/** Compiles tools' schemas. With `allErrors` a validator does not stop at the first error. */
export function newSchemaAjv(dialect: Dialect, allErrors: boolean): Ajv {
  const options: Options = {
    ...COMMON,
    allErrors,
    useDefaults: true,
    coerceTypes: false,
    // A parameter may be called `constructor`: only the value's own properties count.
    ownProperties: true,
    meta: false,
  };
  const ajv = dialect === 'draft-07' ? new Ajv(options) : new Ajv2020(options);
  addFormats(ajv, { mode: 'full' });
  // The regular expression that ajv-formats has for it takes quadratic time: a minute for 256 KiB.
  ajv.addFormat('url', { type: 'string', validate: isWebAddress });
  return ajv;
}

/** Checks schemas against the meta-schema of their dialect. Patterns are judged by RE2 alone. */
export function newMetaAjv(dialect: Dialect): Ajv {
  const options: Options = { ...COMMON, allErrors: true, validateFormats: false };
  return dialect === 'draft-07' ? new Ajv(options) : new Ajv2020(options);
}

function isWebAddress(text: string): boolean {
  return /^(?:https?|ftp):\/\//i.test(text) && URL.canParse(text);
}
