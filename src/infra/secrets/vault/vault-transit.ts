// VaultTransit: KeyService over the transit engine of HashiCorp Vault or OpenBao. Each version of the key is a key id of its own.
// https://developer.hashicorp.com/vault/api-docs/secret/transit
import type { Clock } from '../../../ports/clock.ts';
import type { HttpClient } from '../../../ports/egress/http-client.ts';
import type { WrappedDataKey } from '../../../ports/secrets/key-provider.ts';
import type { SecretPlace } from '../../../ports/secrets/secret-sealer.ts';
import type { VaultSettings } from '../../../settings/secrets-settings.ts';
import { placeText } from '../envelope-sealer.ts';
import { askServer, membersOf, type ServerAnswer } from '../remote/ask-server.ts';
import {
  KeyRefused,
  KeyServiceAway,
  NotUnwrapped,
  type KeyIds,
  type KeyService,
} from '../remote/key-service.ts';
import { VaultLogin } from './vault-login.ts';

export interface VaultTransitNeeds {
  readonly http: HttpClient;
  readonly clock: Pick<Clock, 'now'>;
}

type Members = Readonly<Record<string, unknown>>;
const CIPHERTEXT = /^vault:v(\d+):[A-Za-z0-9+/=]+$/;
/** Of the types of key, those that bind a ciphertext to associated data. */
const BINDING = ['aes128-gcm96', 'aes256-gcm96', 'chacha20-poly1305', 'xchacha20-poly1305'];

export class VaultTransit implements KeyService {
  readonly kind = 'vault';
  readonly #settings: VaultSettings;
  readonly #needs: VaultTransitNeeds;
  readonly #login: VaultLogin;
  /** A key that derives another for each context wants one. */
  #isDerived: boolean | undefined;

  constructor(settings: VaultSettings, needs: VaultTransitNeeds) {
    this.#settings = settings;
    this.#needs = needs;
    this.#login = new VaultLogin(settings, needs.clock, (path, body, signal) =>
      this.#loggedIn(path, body, signal),
    );
  }

  async keyIds(signal: AbortSignal): Promise<KeyIds> {
    const { key } = this.#settings;
    const answer = await this.#ask('GET', `keys/${key}`, undefined, signal);
    const { latest_version: latest, min_decryption_version: least, type, derived } = answer;
    if (typeof latest !== 'number' || !BINDING.includes(String(type)))
      throw new KeyServiceAway(
        `the transit key ${key} is of the type ${String(type)}: it must be one of ${BINDING.join(', ')}`,
      );
    this.#isDerived = derived === true;
    const first = typeof least === 'number' ? Math.max(1, least) : 1;
    const older = Array.from({ length: Math.max(0, latest - first) }, (_, at) => this.#idOf(latest - 1 - at));
    return [this.#idOf(latest), ...older];
  }

  reads(keyId: string): boolean {
    const start = this.#idOf('');
    return keyId.startsWith(start) && /^\d{1,9}$/.test(keyId.slice(start.length));
  }

  async wrap(dataKey: Buffer, place: SecretPlace, signal: AbortSignal): Promise<WrappedDataKey> {
    const body = { plaintext: dataKey.toString('base64'), ...(await this.#bound(place, signal)) };
    const { ciphertext } = await this.#ask('POST', `encrypt/${this.#settings.key}`, body, signal);
    const [text, version] = CIPHERTEXT.exec(String(ciphertext)) ?? [];
    if (text === undefined || version === undefined)
      throw new KeyServiceAway('Vault answered with no ciphertext');
    return { keyId: this.#idOf(version), wrapped: Buffer.from(text, 'utf8') };
  }

  async unwrap({ wrapped }: WrappedDataKey, place: SecretPlace, signal: AbortSignal): Promise<Buffer> {
    const ciphertext = wrapped.toString('utf8');
    if (!CIPHERTEXT.test(ciphertext)) throw new NotUnwrapped('it is no ciphertext of Vault');
    const body = { ciphertext, ...(await this.#bound(place, signal)) };
    const { plaintext } = await this.#ask('POST', `decrypt/${this.#settings.key}`, body, signal);
    if (typeof plaintext !== 'string') throw new KeyServiceAway('Vault answered with no plaintext');
    return Buffer.from(plaintext, 'base64');
  }

  async rotate(signal: AbortSignal): Promise<void> {
    await this.#ask('POST', `keys/${this.#settings.key}/rotate`, {}, signal);
  }

  #idOf(version: number | string): string {
    return `vault-${this.#settings.key}-v${version}`;
  }

  async #bound(place: SecretPlace, signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    if (this.#isDerived === undefined) await this.keyIds(signal);
    const encoded = Buffer.from(placeText(place), 'utf8').toString('base64');
    return { associated_data: encoded, ...(this.#isDerived === true && { context: encoded }) };
  }

  /** Gives the member `data` of the answer. A token that is refused is asked for anew, once. */
  async #ask(
    method: 'GET' | 'POST',
    path: string,
    body: Readonly<Record<string, string>> | undefined,
    signal: AbortSignal,
  ): Promise<Members> {
    const request = async () => {
      const token = await this.#login.token(signal);
      return this.#send(method, `${this.#settings.mount}/${path}`, body, token, signal);
    };
    let answer = await request();
    if (answer.status === 403 && this.#login.forget()) answer = await request();
    if (answer.status === 200 || answer.status === 204) return membersIn(answer.text, 'data');
    throw refusal(`${method} ${path}`, answer);
  }

  async #loggedIn(
    path: string,
    body: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Members> {
    const answer = await this.#send('POST', path, body, undefined, signal);
    if (answer.status !== 200) throw new KeyServiceAway(told(path, answer));
    return membersIn(answer.text, 'auth');
  }

  #send(
    method: 'GET' | 'POST',
    path: string,
    body: Readonly<Record<string, string>> | undefined,
    token: string | undefined,
    signal: AbortSignal,
  ): Promise<ServerAnswer> {
    const { address, namespace } = this.#settings;
    const headers = {
      'x-vault-request': 'true',
      ...(token !== undefined && { 'x-vault-token': token }),
      ...(namespace !== undefined && { 'x-vault-namespace': namespace }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const url = new URL(`${address.replace(/\/+$/, '')}/v1/${path}`);
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    return askServer(this.#needs.http, this.#settings, { method, url, headers, ...content, signal });
  }
}

function refusal(what: string, answer: ServerAnswer): Error {
  const text = told(what, answer);
  const isOfThisOne = answer.status === 400;
  if (!isOfThisOne) return answer.status === 429 ? new KeyRefused(text) : new KeyServiceAway(text);
  const isTooOld = /too old|disallowed by policy/.test(answer.text);
  return what.includes(' decrypt/') && !isTooOld ? new NotUnwrapped(text) : new KeyRefused(text);
}

function told(what: string, { status, text }: ServerAnswer): string {
  const { errors } = membersOf(text);
  const said = Array.isArray(errors) ? `: ${errors.map(String).join('; ').slice(0, 300)}` : '';
  return `Vault answered ${what} with HTTP ${status}${said}`;
}

function membersIn(text: string, name: string): Members {
  const inner = membersOf(text)[name];
  return typeof inner === 'object' && inner !== null ? (inner as Members) : {};
}
