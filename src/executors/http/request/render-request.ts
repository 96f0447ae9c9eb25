// What a dry run shows: the request as it would be sent, a mark in the place of every secret.
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import { withExactNumbers } from '../../../lib/json/exact-json.ts';
import type { SecretScrubber } from '../../../lib/secrets/scrub-secrets.ts';
import { shownBody } from './body-parts.ts';
import type { CompiledRequest, FilledRequest } from './compile-request.ts';

/** `masked` was compiled without the connection's values. Throws what `execute` would throw for these arguments. */
export function renderRequest(
  masked: CompiledRequest,
  args: JsonObject,
  scrubber: SecretScrubber,
): JsonObject {
  const { path, headers, body } = masked.fill(args);
  const shown: JsonObject = {
    method: masked.method,
    url: masked.origin + path,
    headers: { ...headers },
    ...(body !== undefined && { body: shownOf(body, headers['content-type']) }),
  };
  return scrubber.json(shown);
}

function shownOf(body: NonNullable<FilledRequest['body']>, type = ''): JsonValue {
  if (typeof body !== 'string') return shownBody(body);
  return /json/i.test(type) ? (JSON.parse(withExactNumbers(body)) as JsonValue) : body;
}
