// Value templates: a step's arguments as JSON, with references in it that are filled in for each call.
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import type { Work } from '../../lib/jmespath/work.ts';
import { compileExpression, type Expression, type Names, type Scope } from './expression.ts';

/** A JSON value with references in it, written `{ $: expression }`. Everything else in it is literal. */
export interface ValueTemplate {
  /** Makes a value of its own: nothing of the template is shared with it. Throws ExpressionError. */
  fillIn(scope: Scope, work: Work): JsonValue;
  /** For a dry run: what the input alone decides is filled in, other references stay as they are written. */
  preview(scope: Scope, work: Work): JsonValue;
  readonly inputs: readonly string[];
}

/** Something wrong at a path inside a template. */
export class TemplateFault extends Error {
  readonly path: readonly (string | number)[];

  constructor(message: string, path: readonly (string | number)[]) {
    super(message);
    this.name = 'TemplateFault';
    this.path = path;
  }
}

/** Throws TemplateFault. */
export function compileTemplate(
  value: JsonValue,
  names: Names,
  path: readonly (string | number)[] = [],
): ValueTemplate {
  if (Array.isArray(value)) {
    const items = value.map((item, index) => compileTemplate(item, names, [...path, index]));
    const each = (how: (item: ValueTemplate) => JsonValue) => items.map(how);
    return templateOf(items, each);
  }
  if (!isJsonObject(value)) return { fillIn: () => value, preview: () => value, inputs: [] };
  if (Object.hasOwn(value, '$')) return referenceOf(value, names, path);
  const entries = Object.entries(value).map(
    ([key, item]) => [key, compileTemplate(item, names, [...path, key])] as const,
  );
  const each = (how: (item: ValueTemplate) => JsonValue) =>
    Object.fromEntries(entries.map(([key, item]) => [key, how(item)]));
  return templateOf(
    entries.map(([, item]) => item),
    each,
  );
}

function templateOf(
  parts: readonly ValueTemplate[],
  each: (how: (item: ValueTemplate) => JsonValue) => JsonValue,
): ValueTemplate {
  return {
    fillIn: (scope, work) => each((item) => item.fillIn(scope, work)),
    preview: (scope, work) => each((item) => item.preview(scope, work)),
    inputs: parts.flatMap(({ inputs }) => inputs),
  };
}

function referenceOf(value: JsonObject, names: Names, path: readonly (string | number)[]): ValueTemplate {
  const { $: text } = value;
  if (typeof text !== 'string' || Object.keys(value).length > 1) {
    const message =
      'expected a reference such as { $: input.name }: one key "$" with an expression, and no other key';
    throw new TemplateFault(message, path);
  }
  let expression: Expression;
  try {
    expression = compileExpression(text, names);
  } catch (error) {
    throw new TemplateFault((error as Error).message, path);
  }
  return {
    fillIn: (scope, work) => expression.evaluate(scope, work),
    preview: (scope, work) => (expression.needsOnlyInput ? expression.evaluate(scope, work) : { $: text }),
    inputs: expression.inputs,
  };
}
