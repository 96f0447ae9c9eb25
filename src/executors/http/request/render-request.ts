// What a dry run shows: the request as it would be sent, a mark in the place of every secret.
import type { JsonObject, JsonValue } from '../../../contract/json.ts';
import { withExactNumbers } from '../../../lib/json/exact-json.ts';
import type { SecretScrubber } from '../../../lib/secrets/scrub-secrets.ts';
import type { CompiledRequest } from './compile-request.ts';

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
    ...(body === undefined ? {} : { body: JSON.parse(withExactNumbers(body)) as JsonValue }),
  };
  return scrubber.json(shown);
}
