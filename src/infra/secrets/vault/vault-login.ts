// VaultLogin: the token that requests to Vault carry: given, read from a file that an agent renews, or had by a login (AppRole, Kubernetes).
import { readFile } from 'node:fs/promises';
import type { Clock } from '../../../ports/clock.ts';
import type { VaultSettings } from '../../../settings/secrets-settings.ts';
import { KeyServiceAway } from '../remote/key-service.ts';

/** Gives the member `auth` of Vault's answer. */
export type LoginRequest = (
  path: string,
  body: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<Readonly<Record<string, unknown>>>;

/** Of its life a token is used for this part; then another is asked for. */
const USED_FOR = 0.8;

export class VaultLogin {
  readonly #settings: VaultSettings;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #login: LoginRequest;
  #kept: { readonly token: string; readonly until: number } | undefined;

  constructor(settings: VaultSettings, clock: Pick<Clock, 'now'>, login: LoginRequest) {
    this.#settings = settings;
    this.#clock = clock;
    this.#login = login;
  }

  /** Rejects as the login request does, or with KeyServiceAway for a file that cannot be read. */
  async token(signal: AbortSignal): Promise<string> {
    const { token, token_file: file } = this.#settings;
    if (token !== undefined) return token;
    // Each time: whoever renews it writes it anew.
    if (file !== undefined) return readText(file);
    if (this.#kept !== undefined && this.#clock.now() < this.#kept.until) return this.#kept.token;
    const { client_token: fresh, lease_duration: seconds } = await this.#loggedIn(signal);
    if (typeof fresh !== 'string') throw new KeyServiceAway('Vault answered a login without a token');
    const lifeMs = typeof seconds === 'number' && seconds > 0 ? seconds * 1_000 : Number.POSITIVE_INFINITY;
    this.#kept = { token: fresh, until: this.#clock.now() + lifeMs * USED_FOR };
    return fresh;
  }

  /** It was refused. True: another one can be had. */
  forget(): boolean {
    const { token, token_file: file } = this.#settings;
    const hadOne = this.#kept !== undefined;
    this.#kept = undefined;
    return hadOne && token === undefined && file === undefined;
  }

  async #loggedIn(signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    const { approle, kubernetes } = this.#settings;
    if (approle !== undefined) {
      const { mount, role_id, secret_id, secret_id_file: file } = approle;
      const secret = file === undefined ? (secret_id ?? '') : await readText(file);
      return this.#login(`auth/${mount}/login`, { role_id, secret_id: secret }, signal);
    }
    if (kubernetes === undefined) throw new KeyServiceAway('secrets.vault names no way to log in');
    const { mount, role, jwt_file: file } = kubernetes;
    return this.#login(`auth/${mount}/login`, { role, jwt: await readText(file) }, signal);
  }
}

async function readText(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    throw new KeyServiceAway(`${path} cannot be read`, { cause: error });
  }
}
