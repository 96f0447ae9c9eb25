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
import { refused } from '../route/violations.ts';
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
  async create(asked: Asked<typeof createKey>, reply: FastifyReply) {
    const { principal, body } = asked;
    refuseIdempotencyKey(asked);
    const { name, tenant, tenants, agents = ['*'], user = null, roles, expires_at: expiresAt = null } = body;
    const draft = { name, tenant, tenants, agents, user, roles, expiresAt };
    const { record, text } = await this.keys.create(principal, draft);
    touched(record, asked);
    reply.header('location', `/v1/keys/${record.id}`).header('cache-control', NOT_KEPT);
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
  async change(asked: Asked<typeof changeKey>) {
    const { principal, params, body } = asked;
    const record = await this.keys.expire(principal, params.id, body.expires_at);
    touched(record, asked);
    return this.#wire(record);
  }

  @Serves(rotateKey)
  @Requires('keys:manage')
  @Recorded('keys.rotate')
  async rotate(asked: Asked<typeof rotateKey>, reply: FastifyReply) {
    const { principal, params, body, noting } = asked;
    refuseIdempotencyKey(asked);
    const keepMs = body?.keep_previous_ms ?? KEEP_MS;
    const { record, text } = await this.keys.rotate(principal, params.id, keepMs);
    touched(record, asked);
    noting({ previous_expires_at: record.previousExpiresAt?.toISOString() ?? null });
    reply.header('cache-control', NOT_KEPT);
    return { ...this.#wire(record), key: text };
  }

  @Serves(revokeKey)
  @Requires('keys:manage')
  @Recorded('keys.revoke')
  async revoke(asked: Asked<typeof revokeKey>): Promise<undefined> {
    touched(await this.keys.revoke(asked.principal, asked.params.id), asked);
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

/** Of an answer that shows a secret: no cache on the way keeps it. */
const NOT_KEPT = 'no-store';

/** Nothing could give the first answer again: the text of a key is kept nowhere. Throws ToolFailure VALIDATION. */
function refuseIdempotencyKey({ request }: Pick<Asked<typeof createKey>, 'request'>): void {
  if (request.headers['idempotency-key'] === undefined) return;
  const message =
    'header Idempotency-Key is not taken here: the text of a key is kept nowhere, and cannot be answered again';
  throw refused([{ pointer: '', message }]);
}

/** The tenants that it serves find the act in their own records, with what the key may do and not the key. */
function touched(
  record: KeyRecord,
  { affects, noting }: Pick<Asked<typeof createKey>, 'affects' | 'noting'>,
): void {
  const { id, tenant, tenants, agents, user, roles, expiresAt } = record;
  noting({
    key_id: id,
    tenant,
    ...(tenants !== null && { tenants: [...tenants] }),
    agents: [...agents],
    ...(user !== null && { user }),
    roles: [...roles],
    expires_at: expiresAt?.toISOString() ?? null,
  });
  if (tenant !== null) affects(tenant);
  for (const each of tenants ?? []) if (each !== ANY) affects(each);
}
