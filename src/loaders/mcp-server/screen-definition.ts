// What a server says of a tool, made fit to be shown and applied, or the reason why it cannot be. Nothing of it is trusted.
import { isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from '../../contract/json.ts';
import { cutToBytes, hasHidden, withoutHidden } from '../../lib/text/hidden-text.ts';
import type { SchemaProblem } from '../../lib/json-schema/lint/schema-linter.ts';

export interface ScreenedDefinition {
  /** Empty: the server says nothing. */
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations: JsonObject;
  /** Hidden characters that were taken out of texts. */
  readonly removed: number;
  /** Texts that were cut. */
  readonly cut: number;
}

export type Screened = ScreenedDefinition | { readonly refused: string };

/** Rejects only where the schemas cannot be looked at now; a schema that takes too much is a problem of its own. */
export type Lint = (schema: JsonSchema) => Promise<readonly SchemaProblem[]>;

const MOST_TEXT_BYTES = 4_096;
/** As deep as a declaration may be, less what stands around a schema. */
const MAX_DEPTH = 60;
/** Of JSON Schema: what is written for readers, and decides nothing. */
const ANNOTATIONS = new Set(['description', 'title', '$comment']);

class Unusable extends Error {}

export async function screenDefinition(definition: JsonObject, lint: Lint): Promise<Screened> {
  const texts = new Texts();
  try {
    const { description, title, inputSchema, outputSchema, annotations } = definition;
    const input = schemaOf(inputSchema, 'inputSchema', texts);
    const output = outputSchema === undefined ? undefined : schemaOf(outputSchema, 'outputSchema', texts);
    refuseArgumentsOtherThanObject(input);
    await refuseUnsafe(input, 'inputSchema', lint);
    if (output !== undefined) await refuseUnsafe(output, 'outputSchema', lint);
    const said = texts.clean(description) || texts.clean(title);
    refuseReference(said);
    return {
      description: said,
      inputSchema: input,
      ...(output !== undefined && { outputSchema: output }),
      annotations: isJsonObject(annotations) ? annotations : {},
      removed: texts.removed,
      cut: texts.cut,
    };
  } catch (error) {
    if (error instanceof Unusable) return { refused: error.message };
    throw error;
  }
}

/** Cleans texts, and counts what it took away. */
class Texts {
  removed = 0;
  cut = 0;

  clean(value: JsonValue | undefined): string {
    if (typeof value !== 'string') return '';
    const { text, removed } = withoutHidden(value);
    const short = cutToBytes(text.trim(), MOST_TEXT_BYTES);
    this.removed += removed;
    if (short.length < text.trim().length) this.cut += 1;
    return short;
  }
}

function schemaOf(schema: JsonValue | undefined, what: string, texts: Texts): JsonSchema {
  if (!isJsonObject(schema)) throw new Unusable(`has an ${what} that is not an object`);
  return cleaned(schema, what, 0, texts) as JsonSchema;
}

/** A copy with clean texts. What decides is left as it is, or refused: to change it would be to change the tool. */
function cleaned(value: JsonValue, what: string, depth: number, texts: Texts): JsonValue {
  if (typeof value === 'string') return decisive(value, what);
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new Unusable(`has an ${what} with a number without an end`);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) throw new Unusable(`has an ${what} nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) return value.map((item) => cleaned(item, what, depth + 1, texts));
  const entries = Object.entries(value).map(([key, item]): [string, JsonValue] => {
    if (key === '__proto__') throw new Unusable(`has an ${what} with a member called "__proto__"`);
    decisive(key, what);
    const isText = ANNOTATIONS.has(key) && typeof item === 'string';
    if (!isText) return [key, cleaned(item, what, depth + 1, texts)];
    const text = texts.clean(item);
    refuseReference(text);
    return [key, text];
  });
  return Object.fromEntries(entries);
}

function decisive(text: string, what: string): string {
  if (hasHidden(text)) throw new Unusable(`has an ${what} with hidden characters in a name or a value`);
  refuseReference(text);
  return text;
}

/** No declaration may hold one, and the whole set would be refused for it. */
function refuseReference(text: string): void {
  if (/\$\{(?:env|file):/.test(text)) throw new Unusable('holds a reference such as ${env:…}');
}

function refuseArgumentsOtherThanObject({ type }: JsonSchema): void {
  if (type !== undefined && type !== 'object')
    throw new Unusable('takes arguments that are not an object, by its inputSchema');
}

async function refuseUnsafe(schema: JsonSchema, what: string, lint: Lint): Promise<void> {
  const [problem] = await lint(schema);
  if (problem === undefined) return;
  const at = problem.path.length === 0 ? '' : `at ${problem.path.join('.').slice(0, 100)} it `;
  throw new Unusable(`has an ${what} that cannot be applied safely: ${at}${problem.message.slice(0, 200)}`);
}
