// KeyReload: keys and roles of gateway.yaml while the gateway runs. A key that is taken out of the file stops within
// seconds; of the rest of the file, loaders and toolsets alone change without a restart.
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { every, type Repeated } from '../../lib/timers/every.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import type { CertificateAuthenticator } from '../certificates/certificate-authenticator.ts';
import type { ApiKeyAuthenticator } from './api-key-authenticator.ts';
import { ADMIN_KEY_FILE, FIRST_KEY_FILE, keptKeys } from './first-key.ts';
import { keysInForce } from './keys-in-force.ts';
import type { StoredKey } from './known-key.ts';

export interface KeyReloadNeeds {
  readonly settings: Settings;
  /** The settings as the file and the environment say now. Throws Error. */
  readonly reread: () => Settings;
  readonly authenticator: ApiKeyAuthenticator;
  /** Undefined: gateway.yaml had no client certificates at the start. */
  readonly certificates?: CertificateAuthenticator | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Looked at by its content: times and events do not come with every kind of mount. */
const LOOK_MS = 1_000;

export class KeyReload {
  readonly #needs: KeyReloadNeeds;
  /** What was looked at last, good or not: hash of the text. */
  #seen: string | undefined;
  #ids: readonly string[];
  #restOfFile: string;
  #stopped = false;
  #looks: Repeated | undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor(needs: KeyReloadNeeds) {
    const { settings, clock, log } = needs;
    this.#needs = needs;
    this.#ids = idsOf(keysInForce(settings, clock.wall()));
    this.#restOfFile = restOf(settings, needs.certificates !== undefined);
    warnOfFirstKey(settings, this.#ids, log);
  }

  /** Looks at once, as well: the file may have changed since it was read at the start. */
  start(): void {
    const { settings, clock, log } = this.#needs;
    // A key may have been made since.
    this.#ids = idsOf(keysInForce(settings, clock.wall()));
    const failed = (error: unknown) =>
      log.error({ err: error }, 'gateway.yaml could not be checked for changed keys: it is checked again');
    this.#looks = every(clock, { ms: LOOK_MS }, () => this.check(), failed);
    void this.check();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#looks?.stop();
    await this.#looking;
  }

  /** Resolves when the keys are those of the file, if it can be used. Never rejects. */
  check(): Promise<void> {
    this.#looking = this.#looking.then(() => this.#check());
    return this.#looking;
  }

  async #check(): Promise<void> {
    const { settings, log } = this.#needs;
    const text = await readFile(settings.configFile, 'utf8').catch(() => undefined);
    const seen = text === undefined ? 'none' : hash('sha256', text);
    if (seen === this.#seen || this.#stopped) return;
    const isFirstLook = this.#seen === undefined;
    this.#seen = seen;
    try {
      // Read as settings it would be all defaults, and no key: that it is being written is likelier.
      if (!isFirstLook && (text ?? '').trim() === '') throw new Error('the file is empty');
      this.#apply(this.#needs.reread());
    } catch (error) {
      log.error(
        { file: settings.configFile, err: error },
        'gateway.yaml cannot be used as it is now: the keys from before stay valid until it can',
      );
    }
  }

  #apply(settings: Settings): void {
    const { authenticator, certificates, clock, log } = this.#needs;
    const inForce = keysInForce(settings, clock.wall());
    const { client_certificates: mapped, issuers, roles } = settings.auth;
    const replaceCertificates = certificates?.prepared(mapped, roles);
    authenticator.replace(inForce, roles);
    replaceCertificates?.();
    const ids = idsOf(inForce);
    const added = ids.filter((id) => !this.#ids.includes(id));
    const removed = this.#ids.filter((id) => !ids.includes(id));
    if (added.length + removed.length > 0) {
      log.info({ added, removed }, 'the API keys were changed');
      warnOfFirstKey(settings, ids, log);
    }
    if (ids.length + mapped.length + issuers.length === 0)
      log.error(
        {},
        'no API key of gateway.yaml is left: every call without a key of the database is refused until auth.keys has one',
      );
    this.#ids = ids;
    const rest = restOf(settings, certificates !== undefined);
    if (rest !== this.#restOfFile)
      log.warn(
        {},
        'gateway.yaml was changed beyond auth.keys, auth.roles, loaders and toolsets: restart the gateway to apply the rest',
      );
    this.#restOfFile = rest;
  }
}

function idsOf(keys: readonly StoredKey[]): readonly string[] {
  return keys.map(({ id }) => id);
}

/** A key made at the start that stops working is a surprise to whoever uses it. */
function warnOfFirstKey({ auth, data_dir: dataDir }: Settings, inForce: readonly string[], log: Log): void {
  if (auth.keys.length === 0) return;
  for (const name of [FIRST_KEY_FILE, ADMIN_KEY_FILE]) {
    const file = join(dataDir, name);
    const refused = idsOf(firstKeys(file)).filter((id) => !inForce.includes(id));
    if (refused.length === 0) continue;
    log.warn(
      { ids: refused, file },
      'auth.keys is set, so the first key, made when there was none, is refused: to keep it, copy its entry from the file into auth.keys; otherwise delete the file',
    );
  }
}

/** None where the file cannot be read: here nobody needs it. */
function firstKeys(file: string): readonly StoredKey[] {
  try {
    return keptKeys(file);
  } catch {
    return [];
  }
}

/** All that waits for a restart. Client certificates are looked at again where there were some at the start. */
function restOf(
  { auth, toolsets: _toolsets, loaders: _loaders, ...rest }: Settings,
  certificatesFollow: boolean,
): string {
  const { keys: _keys, roles: _roles, client_certificates: certificates, ...others } = auth;
  return hash('sha256', JSON.stringify([others, certificatesFollow ? [] : certificates, rest]));
}
