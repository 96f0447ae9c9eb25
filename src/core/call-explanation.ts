// CallExplanation: a call that nobody makes, and what those who would decide about it have told.
import type { Grant } from '../contract/call/admitted-call.ts';
import type { Explanation } from '../contract/call/explanation.ts';
import type { Explaining } from '../contract/call/tool-call.ts';
import type { ToolResponse } from '../contract/call/tool-response.ts';
import type { JsonObject } from '../contract/json.ts';

export class CallExplanation implements Explaining {
  readonly kind = 'explain';
  readonly grant?: Grant;
  readonly #told: { [extension: string]: JsonObject } = {};

  constructor(grant: Grant | undefined) {
    if (grant !== undefined) this.grant = grant;
  }

  tell(extension: string, what: JsonObject): void {
    this.#told[extension] = what;
  }

  /** `response` never rejects. */
  async outcome(response: Promise<ToolResponse>): Promise<Explanation> {
    const ended = await response;
    return { refusal: ended.ok ? undefined : ended, told: this.#told };
  }
}
