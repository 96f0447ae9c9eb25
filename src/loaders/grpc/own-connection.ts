// The connection that the entry describes: its references resolved and checked, before what it offers is known.
import type { JsonObject } from '../../contract/json.ts';
import type { Problem } from '../../contract/tool/loaded-tools.ts';
import { z } from 'zod';
import { checkUpstream, upstreamFields, type GrpcConnection } from '../../lib/grpc/grpc-connection.ts';
import { resolveReferences } from '../../lib/secrets/references.ts';

const upstreamSchema = z.strictObject(upstreamFields).superRefine(checkUpstream);

export interface ResolvedUpstream {
  /** As written, and with its references resolved. */
  readonly value: JsonObject;
  readonly resolved: JsonObject;
  readonly secrets: readonly string[];
  readonly settings: Omit<GrpcConnection, 'type'>;
}

export async function resolveUpstream(
  written: JsonObject,
  baseDir: string,
  file: string,
): Promise<ResolvedUpstream | { readonly problems: readonly Problem[] }> {
  const { value, faults, secrets } = await resolveReferences(written, { env: process.env, baseDir });
  const problem = (path: readonly PropertyKey[], message: string): Problem => ({
    file,
    ...(path.length > 0 && { path: path.map(String).join('.') }),
    message,
  });
  if (faults.length > 0) return { problems: faults.map(({ path, message }) => problem(path, message)) };
  const resolved = value as JsonObject;
  const { concurrency: _limit, ...own } = resolved;
  const parsed = upstreamSchema.safeParse(own);
  if (!parsed.success)
    return { problems: parsed.error.issues.map(({ path, message }) => problem(path, message)) };
  return {
    value: { type: 'grpc', ...written },
    resolved: { type: 'grpc', ...resolved },
    secrets,
    settings: parsed.data,
  };
}
