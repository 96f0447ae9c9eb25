// FakeOutside: a world of names and addresses for tests of the HTTP client. Whatever is dialled ends at a server on
// loopback, so that nothing leaves the machine even where a guard fails.
import { connect, Socket } from 'node:net';
import type { Outside } from '../../src/infra/http/guarded-connector.ts';

export class FakeOutside implements Outside {
  /** Every connection that was begun. */
  readonly dialled: {
    readonly hostname: string;
    readonly addresses: readonly string[];
    readonly port: number;
  }[] = [];
  readonly asked: string[] = [];
  readonly own: string[] = [];
  readonly #names = new Map<string, () => readonly string[] | Promise<readonly string[]>>();
  readonly #routes = new Map<string, { readonly port: number; readonly shownAs: string | undefined }>();
  #elsewhere: number | undefined;

  name(hostname: string, ...addresses: string[]): this {
    return this.answers(hostname, () => addresses);
  }

  answers(hostname: string, answer: () => readonly string[] | Promise<readonly string[]>): this {
    this.#names.set(hostname, answer);
    return this;
  }

  /** Connections to `address` end at `url`, on loopback; the socket says that its other end is `shownAs`. */
  route(address: string, url: string, shownAs: string | undefined = address): this {
    this.#routes.set(address, { port: Number(new URL(url).port), shownAs });
    return this;
  }

  /** Where every other address leads: the server that nobody should reach. */
  elsewhere(url: string): this {
    this.#elsewhere = Number(new URL(url).port);
    return this;
  }

  async resolve(hostname: string): Promise<readonly string[]> {
    this.asked.push(hostname);
    const answer = this.#names.get(hostname);
    if (answer === undefined) throw Object.assign(new Error(`ENOTFOUND ${hostname}`), { code: 'ENOTFOUND' });
    return answer();
  }

  dial(hostname: string, addresses: readonly string[], port: number): Socket {
    this.dialled.push({ hostname, addresses, port });
    const [address = ''] = addresses;
    const route = this.#routes.get(address);
    const target = route?.port ?? this.#elsewhere ?? (address === '127.0.0.1' ? port : undefined);
    if (target === undefined) {
      const nowhere = new Socket();
      queueMicrotask(() => nowhere.destroy(new Error(`no route to ${address}`)));
      return nowhere;
    }
    const socket = connect({ host: '127.0.0.1', port: target });
    const shownAs = route === undefined ? address : route.shownAs;
    if (shownAs !== undefined) Object.defineProperty(socket, 'remoteAddress', { value: shownAs });
    return socket;
  }

  ownAddresses(): readonly string[] {
    return this.own;
  }
}
