// KeysOfFile: keys and roles of gateway.yaml while the gateway runs. A key that is taken out of the file stops within
// seconds; of the rest of the file, loaders and toolsets alone change without a restart.
import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import type { CertificateAuthenticator } from '../certificates/certificate-authenticator.ts';
import type { SettingsListener } from '../settings-file/watched-settings.ts';
import type { ApiKeyAuthenticator } from './api-key-authenticator.ts';
import { ADMIN_KEY_FILE, FIRST_KEY_FILE, keptKeys } from './first-key.ts';
import { keysInForce } from './keys-in-force.ts';
import type { StoredKey } from './known-key.ts';

export interface KeysOfFileNeeds {
  readonly settings: Settings;
  readonly authenticator: ApiKeyAuthenticator;
  /** Undefined: gateway.yaml had no client certificates at the start. */
  readonly certificates?: CertificateAuthenticator | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export class KeysOfFile implements SettingsListener {
  readonly follows = 'auth.keys and auth.roles';
  readonly #needs: KeysOfFileNeeds;
  #ids: readonly string[];
  #restOfFile: string;

  /** Takes the keys that are in force now for those that were told of: one may have been made at this start. */
  constructor(needs: KeysOfFileNeeds) {
    const { settings, clock, log } = needs;
    this.#needs = needs;
    this.#ids = idsOf(keysInForce(settings, clock.wall()));
    this.#restOfFile = restOf(settings, needs.certificates !== undefined);
    warnOfFirstKey(settings, this.#ids, log);
  }

  readonly apply = (settings: Settings): void => {
    this.#replace(settings);
    const rest = restOf(settings, this.#needs.certificates !== undefined);
    if (rest !== this.#restOfFile)
      this.#needs.log.warn(
        {},
        'gateway.yaml was changed beyond auth.keys, auth.roles, loaders and toolsets: restart the gateway to apply the rest',
      );
    this.#restOfFile = rest;
  };

  /** A mistake elsewhere in the file lets nobody keep a key that was taken out. */
  readonly applyAuth = (auth: Settings['auth']): void => this.#replace({ ...this.#needs.settings, auth });

  #replace(settings: Settings): void {
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
