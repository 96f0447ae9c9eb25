// enum, const, uniqueItems and lengths in time that grows with the value and nothing else: Ajv's own compare every pair.
import { _, type Ajv, type CodeKeywordDefinition, type KeywordCxt } from 'ajv';
import { isScalar, membershipOf, repeatedItem } from './same-value.ts';
import { spend } from './work-budget.ts';

/** Up to so many plain values Ajv writes as comparisons in a row, which nothing beats. */
const FEW_VALUES = 8;

/** In place of Ajv's keywords of the same names, with the same parameters of errors. */
export function useLinearKeywords(ajv: Ajv): void {
  for (const definition of [enumKeyword, constKeyword, uniqueItems, minLength, maxLength]) {
    ajv.removeKeyword(String(definition.keyword));
    ajv.addKeyword(definition);
  }
}

const enumKeyword: CodeKeywordDefinition = {
  keyword: 'enum',
  schemaType: 'array',
  error: {
    message: 'must be equal to one of the allowed values',
    params: ({ schemaCode }) => _`{allowedValues: ${schemaCode}}`,
  },
  code(cxt) {
    const values = cxt.schema as readonly unknown[];
    if (values.length <= FEW_VALUES && values.every(isScalar)) {
      const named = cxt.gen.const('allowed', cxt.schemaCode);
      const each = values.map((_value, index) => _`${cxt.data} === ${named}[${index}]`);
      cxt.pass(each.reduce((all, one) => _`${all} || ${one}`));
    } else cxt.pass(_`${functionIn(cxt, membershipOf(values))}(${cxt.data})`);
  },
};

const constKeyword: CodeKeywordDefinition = {
  keyword: 'const',
  error: {
    message: 'must be equal to constant',
    params: ({ schemaCode }) => _`{allowedValue: ${schemaCode}}`,
  },
  code(cxt) {
    const only: unknown = cxt.schema;
    if (isScalar(only)) cxt.pass(_`${cxt.data} === ${cxt.schemaCode}`);
    else cxt.pass(_`${functionIn(cxt, membershipOf([only]))}(${cxt.data})`);
  },
};

const uniqueItems: CodeKeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  error: {
    message: ({ params: { i, j } }) =>
      _`"must not have the same item twice (items " + ${j} + " and " + ${i} + " are the same)"`,
    params: ({ params: { i, j } }) => _`{i: ${i}, j: ${j}}`,
  },
  code(cxt) {
    if (cxt.schema !== true) return;
    const found = cxt.gen.const('repeated', _`${functionIn(cxt, repeatedItem)}(${cxt.data})`);
    cxt.setParams({ i: _`${found}.i`, j: _`${found}.j` });
    cxt.pass(_`${found} === undefined`);
  },
};

const minLength = lengthKeyword('minLength', 'fewer', (text, least) => {
  if (text.length < least) return false;
  return text.length >= 2 * least || charactersOf(text) >= least;
});

const maxLength = lengthKeyword('maxLength', 'more', (text, most) => {
  if (text.length <= most) return true;
  return text.length <= 2 * most && charactersOf(text) <= most;
});

function lengthKeyword(
  keyword: string,
  comparison: string,
  fits: (text: string, limit: number) => boolean,
): CodeKeywordDefinition {
  return {
    keyword,
    type: 'string',
    schemaType: 'number',
    error: {
      message: ({ schemaCode }) => _`${`must NOT have ${comparison} than `} + ${schemaCode} + " characters"`,
      params: ({ schemaCode }) => _`{limit: ${schemaCode}}`,
    },
    code: (cxt) => cxt.pass(_`${functionIn(cxt, fits)}(${cxt.data}, ${cxt.schemaCode})`),
  };
}

/** A character outside of the basic plane is two units of the string. Asked only where that decides. */
function charactersOf(text: string): number {
  spend(1 + text.length / 4);
  let count = text.length;
  for (let at = 0; at < text.length - 1; at += 1) {
    if ((text.charCodeAt(at) & 0xfc00) !== 0xd800 || (text.charCodeAt(at + 1) & 0xfc00) !== 0xdc00) continue;
    count -= 1;
    at += 1;
  }
  return count;
}

/** A function of ours in the code that Ajv writes. */
export function functionIn({ gen }: KeywordCxt, ref: (...args: never[]) => unknown) {
  return gen.scopeValue('func', { ref });
}
