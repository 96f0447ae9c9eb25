// CallbackRules: where webhooks may go, and with what they are signed. Nowhere, unless the operator says so.
import { egressFault } from '../lib/egress/egress.ts';
import { webhookKey } from '../lib/secrets/webhook-signature.ts';
import type { EgressPolicy } from '../ports/egress/http-client.ts';

export interface CallbackSettings {
  readonly allow_hosts?: readonly string[] | undefined;
  readonly allow_ports?: readonly (number | string)[] | undefined;
  readonly allow_private?: readonly string[] | undefined;
  readonly allow_http: boolean;
  readonly secret?: string | undefined;
  readonly previous_secret?: string | undefined;
  readonly max_attempts: number;
  readonly base_delay_ms: number;
  readonly timeout_ms: number;
}

const MAX_URL_CHARS = 2_048;

export class CallbackRules {
  readonly egress: EgressPolicy;
  readonly keys: readonly Buffer[];
  readonly maxAttempts: number;
  readonly baseDelayMs: number;
  readonly timeoutMs: number;
  readonly #allowHttp: boolean;

  constructor(settings: CallbackSettings) {
    const {
      allow_hosts: allowHosts = [],
      allow_ports: allowPorts = [],
      allow_private: allowPrivate = [],
      secret,
      previous_secret: previous,
    } = settings;
    this.egress = { allowHosts, allowPorts, allowPrivate };
    this.keys = [secret, previous].flatMap((each) => (each === undefined ? [] : (webhookKey(each) ?? [])));
    this.maxAttempts = settings.max_attempts;
    this.baseDelayMs = settings.base_delay_ms;
    this.timeoutMs = settings.timeout_ms;
    this.#allowHttp = settings.allow_http;
  }

  get enabled(): boolean {
    return this.egress.allowHosts.length > 0 && this.keys.length > 0;
  }

  /** Why no message may go there, as a sentence's end; undefined: it may. */
  refusal(text: string): string | undefined {
    if (!this.enabled) return 'is not allowed: this gateway calls nobody back';
    const url = text.length > MAX_URL_CHARS ? null : URL.parse(text);
    if (url === null || !['https:', 'http:'].includes(url.protocol)) return 'must be an https URL';
    if (url.protocol === 'http:' && !this.#allowHttp) return 'must be an https URL';
    if (url.username !== '' || url.password !== '') return 'must not hold a user or a password';
    const fault = egressFault(this.egress, url);
    return fault && `names a ${fault} that this gateway may not call back`;
  }
}
