// CertificateAuthenticator: who calls with a client certificate. TLS has verified it; the settings say whose it is, or it is nobody's.
import { toolFailure } from '../../contract/call/failure.ts';
import type { Grant } from '../../contract/call/admitted-call.ts';
import { holds, unknownRole, type ClientCertificate, type Principal } from '../../contract/call/principal.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CertificateSettings } from '../../settings/auth-settings.ts';
import { inTenant, stillServes, type Identity } from '../identity/serves.ts';
import { identityOfRecord, type Roles } from '../keys/known-key.ts';
import { altNames } from './alt-names.ts';

interface Mapped {
  readonly settings: CertificateSettings;
  readonly identity: Identity;
}

/** Before the name that the settings give it: together the id of whoever calls. */
export const CERTIFICATE = 'certificate:';

export class CertificateAuthenticator {
  readonly #roles: () => Roles;
  readonly #clock: Pick<Clock, 'wall'>;
  #settings: readonly CertificateSettings[];
  #mapped: readonly Mapped[];
  #mappedBy: Roles;

  /** `roles`: as gateway.yaml declares them now. Throws Error for one that is not there. */
  constructor(settings: readonly CertificateSettings[], roles: () => Roles, clock: Pick<Clock, 'wall'>) {
    this.#roles = roles;
    this.#clock = clock;
    this.#settings = settings;
    this.#mappedBy = roles();
    this.#mapped = mappedBy(settings, this.#mappedBy);
  }

  /** Whether one of them may make keys for others. */
  get hasAdmin(): boolean {
    return this.#now().some(({ identity }) => holds(identity.principal, 'keys:manage'));
  }

  /** Gives what puts these in force, and no others. Throws as the constructor does. */
  prepared(settings: readonly CertificateSettings[], roles: Roles): () => void {
    const mapped = mappedBy(settings, roles);
    return () => {
      this.#mapped = mapped;
      this.#mappedBy = roles;
      this.#settings = settings;
    };
  }

  authenticate(certificate: ClientCertificate, tenant: string | undefined): Principal {
    const names = altNames(certificate.subjectAltName);
    const mapped = this.#now().find(({ settings }) => isMeant(settings, certificate, names));
    if (mapped === undefined)
      throw toolFailure('CREDENTIAL_INVALID', "The client certificate is nobody's here.");
    // A connection may outlive the certificate that it was opened with.
    if (certificate.validTo <= this.#clock.wall())
      throw toolFailure('CREDENTIAL_EXPIRED', 'The credential has expired.', {
        by: mapped.identity.principal,
      });
    return inTenant(mapped.identity, tenant);
  }

  recall({ principalId, tenantId }: Grant): Principal {
    const mapped = this.#now().find(({ identity }) => identity.principal.id === principalId);
    if (mapped === undefined || !stillServes(mapped.identity, tenantId))
      throw toolFailure(
        'CREDENTIAL_REVOKED',
        "The certificate that made the call is nobody's any more, or does not serve its tenant.",
      );
    return inTenant(mapped.identity, tenantId);
  }

  /** Roles come and go while the gateway runs. */
  #now(): readonly Mapped[] {
    const roles = this.#roles();
    if (roles !== this.#mappedBy) {
      this.#mapped = this.#settings.map((settings) => ({ settings, identity: identityOf(settings, roles) }));
      this.#mappedBy = roles;
    }
    return this.#mapped;
  }
}

function mappedBy(all: readonly CertificateSettings[], roles: Roles): readonly Mapped[] {
  return all.map((settings) => {
    const unknown = unknownRole(settings.roles, roles);
    if (unknown !== undefined)
      throw new Error(
        `auth.client_certificates: ${settings.name} has the role "${unknown}", which is none of admin, agent, platform_admin and auth.roles`,
      );
    return { settings, identity: identityOf(settings, roles) };
  });
}

function identityOf({ name, tenant, tenants, agents, user, roles }: CertificateSettings, declared: Roles) {
  const record = {
    id: `${CERTIFICATE}${name}`,
    tenant: tenant ?? null,
    tenants: tenants === undefined ? null : [tenants].flat(),
    agents,
    user: user ?? null,
    roles,
  };
  return identityOfRecord(record, declared);
}

/** Letter by letter; of a subject each attribute that the settings name, once. */
function isMeant(
  { subject, san }: CertificateSettings,
  certificate: ClientCertificate,
  names: ReadonlySet<string>,
): boolean {
  if (san !== undefined) return names.has(san);
  const wanted = Object.entries(subject ?? {});
  return (
    wanted.length > 0 && wanted.every(([attribute, value]) => own(certificate.subject, attribute) === value)
  );
}

function own(subject: ClientCertificate['subject'], attribute: string): unknown {
  return Object.hasOwn(subject, attribute) ? subject[attribute] : undefined;
}
