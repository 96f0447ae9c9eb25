// What gateway.yaml may say for every http tool: the section `executors.http`.
import { z } from 'zod';
import { egressFields } from '../../lib/egress.ts';

export interface HttpSettings {
  /** Ranges that any http tool may reach although they are not public. */
  readonly allowPrivate: readonly string[];
}

export const HTTP_DEFAULTS: HttpSettings = { allowPrivate: [] };

export function httpSettingsSchema() {
  return z
    .strictObject({ allow_private: egressFields.allow_private })
    .transform(({ allow_private: ranges }): HttpSettings => ({
      allowPrivate: ranges ?? HTTP_DEFAULTS.allowPrivate,
    }));
}
