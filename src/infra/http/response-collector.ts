// ResponseCollector: takes one answer from undici piece by piece, bounded, and settles its promise once.
import type { Dispatcher } from 'undici';
import type { HttpRequest, HttpResponse } from '../../ports/egress/http-client.ts';
import { BodyBytes } from './body-bytes.ts';
import { failureOf, tooLarge } from './http-failures.ts';

export class ResponseCollector implements Dispatcher.DispatchHandler {
  readonly #request: HttpRequest;
  readonly #resolve: (response: HttpResponse) => void;
  readonly #reject: (reason: unknown) => void;
  /** There from the moment the request goes onto a connection: until then, nothing was sent. */
  #controller: Dispatcher.DispatchController | undefined;
  #settled = false;
  #status = 0;
  #headers: HttpResponse['headers'] = {};
  readonly #body: BodyBytes;
  readonly #onAbort = (): void => this.fail(this.#request.signal.reason);

  constructor(
    request: HttpRequest,
    resolve: (response: HttpResponse) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#request = request;
    this.#body = new BodyBytes(request.maxResponseBytes);
    this.#resolve = resolve;
    this.#reject = reject;
    request.signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  get isSettled(): boolean {
    return this.#settled;
  }

  /** Something was sent, or it is over. */
  get hasBegun(): boolean {
    return this.#settled || this.#controller !== undefined;
  }

  /** Rejects now; what is still on the wire is cut off. */
  fail(reason: unknown): void {
    if (!this.#settle()) return;
    this.#reject(reason);
    this.#controller?.abort(asError(reason));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Aborted while it waited for a free connection: it must not be sent any more.
    if (this.#settled) controller.abort(new Error('The request was given up before it was sent.'));
    else this.#controller = controller;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: HttpResponse['headers']): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    const refusal = this.#request.refuses?.(status, headers);
    if (refusal !== undefined) return this.fail(refusal);
    const announced = Number(headers['content-length'] ?? 0);
    if (Number.isSafeInteger(announced)) this.#body.announced = announced;
    if (this.#request.method !== 'HEAD' && announced > this.#request.maxResponseBytes) this.#failTooLarge();
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#body.push(chunk)) this.#failTooLarge();
  }

  onResponseEnd(): void {
    if (!this.#settle()) return;
    this.#resolve({ status: this.#status, headers: this.#headers, body: this.#body.whole() });
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#settle()) this.#reject(failureOf(error, this.#controller !== undefined));
  }

  #failTooLarge(): void {
    this.fail(tooLarge(this.#request.maxResponseBytes, this.#status));
  }

  #settle(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    this.#request.signal.removeEventListener('abort', this.#onAbort);
    return true;
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('The request was aborted.', { cause: reason });
}
