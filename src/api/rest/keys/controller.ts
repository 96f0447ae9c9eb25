// API keys by REST: list, make, look, expire, rotate, revoke. A secret is in the answer that makes it, and nowhere else.
import { Controller, Inject } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { KeyControl } from '../../../ports/keys/key-control.ts';
import type { KeyRecord } from '../../../ports/keys/key-store.ts';
import { KEY_CONTROL } from '../../tokens.ts';
import { Recorded } from '../management/acts.ts';
import { Requires } from '../management/permissions.ts';
import type { Asked } from '../route/asked.ts';
import { tokenOf } from '../route/page.ts';
import { Serves } from '../route/serves.ts';
import { wire } from '../route/wire.ts';
import { ApiKey, changeKey, createKey, getKey, KEEP_MS, listKeys, revokeKey, rotateKey } from './schema.ts';

@Controller()
export class KeysController {
  constructor(@Inject(KEY_CONTROL) private readonly keys: KeyControl) {}

  @Serves(listKeys)
  @Requires('keys:read')
  async list({ principal, query }: Asked<typeof listKeys>) {
    const { page_size: limit, page_token: after, tenant } = query;
    const found = await this.keys.list(principal, { limit: limit + 1, after, tenant });
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1)?.id : undefined;
    return { keys: page.map((key) => this.#wire(key)), next_page_token: tokenOf(last) };
  }

  @Serves(createKey)
  @Requires('keys:manage')
  @Recorded('keys.create', { targetOf: idOf })
  async create({ principal, body, affects }: Asked<typeof createKey>, reply: FastifyReply) {
    const { name, tenant, tenants, agents = ['*'], user = null, roles, expires_at: expiresAt = null } = body;
    const draft = { name, tenant, tenants, agents, user, roles, expiresAt };
    const { record, text } = await this.keys.create(principal, draft);
    touched(record, affects);
    reply.header('location', `/v1/keys/${record.id}`);
    return { ...this.#wire(record), key: text };
  }

  @Serves(getKey)
  @Requires('keys:read')
  async get({ principal, params }: Asked<typeof getKey>) {
    return this.#wire(await this.keys.get(principal, params.id));
  }

  @Serves(changeKey)
  @Requires('keys:manage')
  @Recorded('keys.expire')
  async change({ principal, params, body, affects }: Asked<typeof changeKey>) {
    const record = await this.keys.expire(principal, params.id, body.expires_at);
    touched(record, affects);
    return this.#wire(record);
  }

  @Serves(rotateKey)
  @Requires('keys:manage')
  @Recorded('keys.rotate')
  async rotate({ principal, params, body, affects }: Asked<typeof rotateKey>) {
    const keepMs = body?.keep_previous_ms ?? KEEP_MS;
    const { record, text } = await this.keys.rotate(principal, params.id, keepMs);
    touched(record, affects);
    return { ...this.#wire(record), key: text };
  }

  @Serves(revokeKey)
  @Requires('keys:manage')
  @Recorded('keys.revoke')
  async revoke({ principal, params, affects }: Asked<typeof revokeKey>): Promise<undefined> {
    touched(await this.keys.revoke(principal, params.id), affects);
  }

  #wire(record: KeyRecord) {
    return wire(ApiKey, { ...record, state: this.keys.stateOf(record) });
  }
}

/** Of any tenant: no tenant's records tell of it. */
const ANY = '*';

/** What the act is recorded for: a new key has its id only once it is made. */
function idOf(answer: unknown): string {
  return (answer as { readonly id: string }).id;
}

/** The tenants that it serves find the act in their own records. */
function touched({ tenant, tenants }: KeyRecord, affects: (tenantId: string) => void): void {
  if (tenant !== null) affects(tenant);
  for (const each of tenants ?? []) if (each !== ANY) affects(each);
}
