// What an upstream's error says to a reader, found where the common forms of errors have it.
import type { JsonValue } from '../json/json-value.ts';
import { withoutHidden } from '../text/hidden-text.ts';

type Members = { readonly [name: string]: JsonValue };

const LONGEST = 300;
const MOST_LEVELS = 3;

/**
 * In this order. RFC 9457 has title and detail; OAuth 2.0 error_description; Google, OpenAI and Stripe an object `error`
 * with a message; JSON:API and GraphQL a list `errors`; Jira errorMessages; AWS Message; Apigee fault.faultstring;
 * FastAPI a list `detail`; Slack and many others a word in `error`.
 */
const TEXTS = ['detail', 'error_description', 'message', 'Message', 'error_message', 'errorMessage', 'faultstring', 'msg', 'description', 'reason', 'title', 'error'] as const; // oxfmt-ignore
const INNER = ['error', 'errors', 'errorMessages', 'fault', 'Error', 'detail', 'meta', 'status'] as const;

/** One line, or undefined where nothing is found: of a body that has been scrubbed. */
export function saidMessage(body: JsonValue): string | undefined {
  const found = typeof body === 'string' ? body : messageIn(body, 0);
  if (found === undefined) return undefined;
  const line = withoutHidden(found).text.replaceAll(/\s+/g, ' ').trim();
  if (line === '') return undefined;
  return line.length > LONGEST ? `${line.slice(0, LONGEST).toWellFormed()}…` : line;
}

function messageIn(value: JsonValue | undefined, depth: number): string | undefined {
  if (typeof value === 'string') return /\S/.test(value) ? value : undefined;
  if (typeof value !== 'object' || value === null || depth > MOST_LEVELS) return undefined;
  if (Array.isArray(value))
    return joined((value as readonly JsonValue[]).slice(0, 3).map((item) => messageIn(item, depth + 1)));
  const members: Members = value;
  const own = problemText(members) ?? textOf(members);
  // A general sentence, and beside it what is wrong in particular.
  const inner = INNER.map((name) =>
    typeof members[name] === 'object' ? messageIn(members[name], depth + 1) : undefined,
  ).find((text) => text !== undefined);
  if (own === undefined) return inner ?? fieldErrors(members['errors']);
  const particular = inner ?? fieldErrors(members['errors']);
  return particular === undefined || particular === own ? own : `${own}: ${particular}`;
}

/** RFC 9457 tells a kind and an occurrence apart. */
function problemText({ title, detail }: Members): string | undefined {
  if (typeof title !== 'string' || typeof detail !== 'string' || title === '' || detail === '')
    return undefined;
  return detail.includes(title) ? detail : `${title}: ${detail}`;
}

function textOf(members: Members): string | undefined {
  for (const name of TEXTS) {
    const text = members[name];
    if (typeof text === 'string' && /\S/.test(text)) return text;
  }
  return undefined;
}

/** `{email: ["is taken"]}`, as Rails, Laravel and Django say it. */
function fieldErrors(errors: JsonValue | undefined): string | undefined {
  if (typeof errors !== 'object' || errors === null || Array.isArray(errors)) return undefined;
  return joined(
    Object.entries(errors)
      .slice(0, 3)
      .map(([field, said]) => {
        const [first] = Array.isArray(said) ? (said as readonly JsonValue[]) : [said];
        return typeof first === 'string' ? `${field} ${first}` : undefined;
      }),
  );
}

function joined(texts: readonly (string | undefined)[]): string | undefined {
  const found = texts.filter((text) => text !== undefined);
  return found.length === 0 ? undefined : found.join('; ');
}
