// What gateway.yaml may say for every http tool: the section `executors.http`.
import { z } from 'zod';
import { egressFields } from '../../lib/egress/egress.ts';

export interface HttpSettings {
  /** Ranges that any http tool may reach although they are not public. */
  readonly allowPrivate: readonly string[];
  /** Ports that any http tool may reach besides 80 and 443. */
  readonly allowPorts: readonly (number | string)[];
}

export const HTTP_DEFAULTS: HttpSettings = { allowPrivate: [], allowPorts: [] };

export function httpSettingsSchema() {
  return z
    .strictObject({ allow_private: egressFields.allow_private, allow_ports: egressFields.allow_ports })
    .transform(({ allow_private: ranges, allow_ports: ports }): HttpSettings => ({
      allowPrivate: ranges ?? HTTP_DEFAULTS.allowPrivate,
      allowPorts: ports ?? HTTP_DEFAULTS.allowPorts,
    }));
}
