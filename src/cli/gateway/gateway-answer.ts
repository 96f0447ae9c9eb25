// Reads the gateway's answers: JSON, envelopes, and the problems of the management side.
import { isJsonObject, type JsonObject } from '../../contract/json.ts';
import { CliFailure, EXIT } from '../exit-code.ts';
import type { GatewayAnswer } from './send-request.ts';

const KEY_HINT = ' ute takes the key from UTE_API_KEY, or from --key-file.';

/** The gateway's no, with the reason that it gave. */
export class Refused extends CliFailure {
  readonly reason: string | undefined;

  constructor(message: string, reason: string | undefined) {
    super(EXIT.refused, message);
    this.reason = reason;
  }
}

/** The text of an answer that says yes. Throws Refused with the problem's own words otherwise. */
export function accepted(answer: GatewayAnswer): string {
  if (answer.ok) return answer.text;
  const problem = parse(answer.text);
  const { detail, reason } = isJsonObject(problem) ? problem : {};
  const said = typeof detail === 'string' ? detail : 'the answer is not one of this gateway';
  const hint = answer.status === 401 ? KEY_HINT : '';
  throw new Refused(
    `the gateway refused (${answer.status}): ${said}${hint}`,
    typeof reason === 'string' ? reason : undefined,
  );
}

/** The answer as a JSON object. */
export function asObject(answer: GatewayAnswer): JsonObject {
  const value = parse(accepted(answer));
  if (isJsonObject(value)) return value;
  throw new CliFailure(EXIT.failed, 'the gateway answered something else than a JSON object');
}

/** Refusals are envelopes too, whatever the status. */
export function asEnvelope(answer: GatewayAnswer): JsonObject {
  const value = parse(answer.text);
  if (isJsonObject(value) && typeof value['ok'] === 'boolean') return value;
  throw new CliFailure(EXIT.failed, `the gateway answered ${answer.status} without an envelope`);
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
