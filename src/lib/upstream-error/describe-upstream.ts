// The body of an upstream's error, for whoever made the call: JSON stays JSON, HTML becomes text, long things are cut. All of it is
// scrubbed before anything is cut: half of a secret would not be found any more.
import { tooMuchIn } from '../json/json-bounds.ts';
import { withExactNumbers } from '../json/exact-json.ts';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { withoutHidden } from '../text/hidden-text.ts';
import { htmlText } from '../text/html-text.ts';
import { boundedJson } from './bounded-json.ts';
import { saidMessage } from './said-message.ts';

export interface UpstreamAnswer {
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  readonly body: Buffer;
}

export interface DescribedError {
  /** One line; undefined: the body says nothing that can be found. */
  readonly message: string | undefined;
  readonly details: JsonObject;
}

interface Scrubber {
  readonly text: (text: string) => string;
  readonly json: <Value>(value: Value) => Value;
}

/** Of a body, read at all. */
const READ_BYTES = 65_536;
/** A secret that the end of what is read cuts in two is not found: more is read, and as much as one may be long is not shown. */
const LONGEST_SECRET = 32_768;
const SCRUBBED_BYTES = READ_BYTES + LONGEST_SECRET;
const MOST_JSON = 4_096;
const LONGEST_TEXT = 2_000;
const TEXT = /^(?:text\/|application\/(?:[^;\s]+\+)?(?:json|xml)|application\/x-www-form-urlencoded)/;

/** Undefined where there is no body that can be read. */
export function describeUpstream(
  { headers, body }: UpstreamAnswer,
  scrub: Scrubber,
): DescribedError | undefined {
  if (body.length === 0) return undefined;
  const header = headers['content-type'];
  const type = scrub.text(typeof header === 'string' ? header : '').slice(0, 100);
  const about = { untrusted: true, ...(type !== '' && { content_type: type }) };
  const parsed = jsonOf(body);
  if (parsed !== undefined) {
    const clean = scrub.json(parsed);
    const { value, isCut } = boundedJson(clean, MOST_JSON, LONGEST_TEXT);
    return {
      message: saidMessage(clean),
      details: { ...about, body: value, ...(isCut && { truncated: true }) },
    };
  }
  if (type !== '' && !TEXT.test(type.toLowerCase())) return { message: undefined, details: about };
  const scrubbed = scrub.text(body.subarray(0, SCRUBBED_BYTES).toString('utf8'));
  const clean = body.length > SCRUBBED_BYTES ? scrubbed.slice(0, -LONGEST_SECRET) : scrubbed;
  const text = withoutHidden(htmlText(clean)).text.trim();
  const isCut = text.length > LONGEST_TEXT || body.length > SCRUBBED_BYTES;
  const shown = text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT).toWellFormed()}…` : text;
  return {
    message: saidMessage(text),
    details: { ...about, body: shown, ...(isCut && { truncated: true }) },
  };
}

/** Whatever its type is called: many say text/html of their JSON. */
function jsonOf(body: Buffer): JsonValue | undefined {
  if (body.length > READ_BYTES) return undefined;
  const text = body.toString('utf8');
  if (!/^\s*[{["]/.test(text) || tooMuchIn(text) !== undefined) return undefined;
  try {
    return JSON.parse(withExactNumbers(text)) as JsonValue;
  } catch {
    return undefined;
  }
}
