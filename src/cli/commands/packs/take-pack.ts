// Has the gateway that runs look at gateway.yaml now, and says whether it has the tools of a pack then.
import { setTimeout as pause } from 'node:timers/promises';
import { isJsonObject, type JsonValue } from '../../../contract/json.ts';
import { CliFailure, EXIT } from '../../exit-code.ts';
import { accepted, asObject } from '../../gateway/gateway-answer.ts';
import type { GatewayClient } from '../../gateway/gateway-client.ts';

export interface AddedPack {
  readonly name: string;
  /** The tool of its first call. Undefined: it was left out. */
  readonly tool: string | undefined;
}

/** Another replica, or process, looks at its gateway.yaml a moment later than the one that was asked to: three seconds. */
export const TRIES = 12;
export const BETWEEN_MS = 250;

/** Its problems are the message. */
export class NotTaken extends CliFailure {}

/** False: it does not have them, so it was started with another file. Throws CliFailure. */
export async function takePack({ name, tool }: AddedPack, gateway: GatewayClient): Promise<boolean> {
  const { ok, problems } = asObject(await gateway.send('POST', '/v1/admin/reload'));
  if (ok !== true)
    throw new NotTaken(
      EXIT.refused,
      `gateway.yaml has the pack ${name}, but the gateway that runs did not take it; its tools are those from before${linesOf(problems)}`,
    );
  if (tool === undefined) return true;
  for (let left = TRIES; left > 0; left -= 1) {
    const found = await gateway.get(`/v1/tools/${encodeURIComponent(tool)}`);
    if (found.status !== 404) {
      accepted(found);
      return true;
    }
    await pause(BETWEEN_MS);
  }
  return false;
}

function linesOf(problems: JsonValue | undefined): string {
  const said = Array.isArray(problems) ? problems.filter(isJsonObject) : [];
  return said.map(({ message, tool, file }) => `\n${word(tool) || word(file)}: ${word(message)}`).join('');
}

function word(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
