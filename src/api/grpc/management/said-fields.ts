// What a message says, as the shapes of REST read it: one validation for both doors.
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import { snakeCase } from '../../../lib/settings/snake-case.ts';
import type { Shape, ValueOf } from '../../rest/route/shapes.ts';
import { refused, violationsOf } from '../../rest/route/violations.ts';
import { checkTexts } from '../check-texts.ts';
import { invalid } from '../invalid.ts';
import { modeName } from '../interaction-mode.ts';
import { UNREADABLE, type Readable } from '../wire-types.ts';

type Said = string | number | boolean | object | null | undefined;

/** What REST has in its path: it is looked up as it stands, and nothing is found. */
const IN_PATHS: ReadonlySet<string> = new Set(['/id', '/name']);

/** Throws ToolFailure VALIDATION where the message is none of its type, or a text of it holds what none may. */
export function readable<Message extends object>(message: Readable<Message>): Message {
  if (message === UNREADABLE) throw invalid('', 'is not a message of its type');
  checkTexts(message, IN_PATHS);
  return message;
}

/** By the shape that REST reads: proto3 cannot tell a field that is empty from one that is not said. Throws ToolFailure VALIDATION. */
export function readAs<Of extends Shape>(shape: Of, message: object): ValueOf<Of> {
  const schema = shape();
  const result = schema.safeParse(fieldsOf(message));
  if (result.success) return result.data as ValueOf<Of>;
  const known = Object.keys((schema as { readonly shape?: object }).shape ?? {});
  throw refused(violationsOf(result.error.issues, known, 'field of this message'));
}

function fieldsOf(message: object): JsonObject {
  const said = Object.entries(message).flatMap(([name, value]: [string, Said]) => {
    const field = snakeCase(name);
    const read = field === 'mode' ? modeOf(value) : valueOf(field, value);
    return read === undefined ? [] : [[field, read] as const];
  });
  return Object.fromEntries(said);
}

function valueOf(field: string, value: Said): JsonValue | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  // Queries of REST are text.
  if (typeof value === 'boolean') return value ? 'true' : undefined;
  if (typeof value !== 'number' || value === 0) return undefined;
  return field === 'page_size' ? String(value) : value;
}

function modeOf(value: Said): JsonValue | undefined {
  if (typeof value !== 'number' || value === 0) return undefined;
  return modeName(value) ?? String(value);
}
