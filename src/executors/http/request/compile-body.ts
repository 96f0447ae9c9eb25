// The body of a request: JSON in which strings are templates, compiled once and filled per call.
import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts';
import { soleName } from '../../../lib/text/template.ts';
import { compileText, inText, type Violation } from './argument-text.ts';
import { requestTemplate } from './agent-values.ts';

/** Undefined: an argument was left out, and with it goes the key or item it stands at. */
type FillBody = (args: JsonObject, violations: Violation[]) => JsonValue | undefined;

/** `"{name}"` becomes the argument itself, of whatever type; other strings become text. Keys are fixed. */
export function compileBody(body: JsonValue): FillBody {
  if (typeof body === 'string') return compileString(body);
  if (Array.isArray(body)) {
    const items = body.map(compileBody);
    return (args, violations) =>
      items.map((fill) => fill(args, violations)).filter((item) => item !== undefined);
  }
  if (!isJsonObject(body)) return () => body;
  const entries = Object.entries(body).map(([key, value]) => [key, compileBody(value)] as const);
  return (args, violations) => {
    const filled: [string, JsonValue][] = [];
    for (const [key, fill] of entries) {
      const value = fill(args, violations);
      if (value !== undefined) filled.push([key, value]);
    }
    return Object.fromEntries(filled);
  };
}

/** Every argument that stands nowhere else in the request. */
export function remainingArguments(args: JsonObject, used: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(args).filter(([name]) => !used.has(name)));
}

function compileString(text: string): FillBody {
  const template = requestTemplate(text);
  const name = soleName(template);
  return name === undefined ? compileText(template, inText) : (args) => args[name];
}
