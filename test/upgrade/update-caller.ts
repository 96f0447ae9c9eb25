// What a caller does while gateways are replaced: everything that leaves something for the replica that comes after.
import { deepEqual } from 'node:assert/strict';
import { acceptCall, acceptedId, callIdOf } from '../helpers/async-client.ts';
import { callTool, sendTo, type Envelope, type RestTarget } from '../helpers/rest-client.ts';

interface Refused {
  readonly error: { readonly details: { readonly approval_id: string; readonly confirmation_token: string } };
}
type Answered = Envelope & { readonly meta: { readonly replayed: boolean } };

export class UpdateCaller {
  /** What has to be noted once each when all is done. */
  readonly words: string[] = [];
  /** Ids of calls that were accepted. */
  readonly accepted: string[] = [];
  readonly #target: RestTarget;

  constructor(target: RestTarget) {
    this.#target = target;
  }

  /** Every word once. Throws at the first answer that is not as it should be. */
  async turn(word: string): Promise<void> {
    const target = this.#target;
    this.words.push(`${word}-limited`, `${word}-once`, `${word}-later`, `${word}-guarded`, `${word}-waits`);
    const { status, body } = await callTool(target, 'add', { a: word.length, b: 2 });
    deepEqual([status, body.data], [200, word.length + 2], JSON.stringify(body));
    const limited = await callTool(target, 'note_limited', { word: `${word}-limited` });
    deepEqual(limited.status, 200, JSON.stringify(limited.body));
    await this.#once(`${word}-once`, false);
    await this.#once(`${word}-once`, true);
    this.accepted.push(await acceptedId(target, 'note', { word: `${word}-later` }));
    await this.#guarded(`${word}-guarded`);
    await this.#waits(`${word}-waits`);
  }

  /** What one replica ran, the next answers from what was kept. */
  async #once(word: string, replayed: boolean): Promise<void> {
    const asked = { arguments: { word }, context: { idempotency_key: word } };
    const { body } = await sendTo<Answered>(this.#target, 'POST', '/v1/tools/note/execute', asked);
    deepEqual([body.data, body.meta.replayed], [word, replayed], JSON.stringify(body));
  }

  /** Asked by one replica, approved by the next, run by another. */
  async #guarded(word: string): Promise<void> {
    const path = '/v1/tools/note_guarded/execute';
    const asked = await sendTo<Refused>(this.#target, 'POST', path, { arguments: { word } });
    deepEqual(asked.status, 202, JSON.stringify(asked.body));
    const { approval_id: id, confirmation_token: token } = asked.body.error.details;
    await this.#approve(id);
    const again = { arguments: { word }, context: { confirmation_token: token } };
    const { body } = await sendTo<Envelope>(this.#target, 'POST', path, again);
    deepEqual(body.data, word, JSON.stringify(body));
  }

  /** Accepted, and run by itself once it is approved. */
  async #waits(word: string): Promise<void> {
    const { status, body } = await acceptCall(this.#target, 'note_guarded', { word });
    deepEqual(status, 202, JSON.stringify(body));
    this.accepted.push(callIdOf(body.meta));
    await this.#approve(body.meta.approval_id ?? '');
  }

  async #approve(id: string): Promise<void> {
    const decision = { decision: 'approve' };
    const { status, body } = await sendTo(this.#target, 'POST', `/v1/approvals/${id}/decision`, decision);
    deepEqual(status, 200, JSON.stringify(body));
  }
}
