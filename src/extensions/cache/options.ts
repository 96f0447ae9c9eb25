// What a tool may say of its cache, and what it may not.
import { z } from 'zod';
import type { OptionFault } from '../../contract/plugin.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { isUnsafe } from '../../contract/tool/tool-spec.ts';
import { whole } from '../../lib/settings/whole.ts';

const DAY_MS = 86_400_000;

export const cacheOptionsSchema = z.strictObject({
  ttl_ms: whole(1, DAY_MS)
    .optional()
    .describe(
      'How long an answer is given again. Needed; only tools that name the extension are cached, and gateway.yaml may give the value.',
    ),
  scope: z
    .enum(['session', 'tenant', 'global'])
    .default('session')
    .describe(
      'Who shares an answer. tenant and global: only where it depends on the arguments alone, and not on who asks.',
    ),
  max_result_bytes: whole(64, 1 << 20)
    .default(64 << 10)
    .describe('A larger answer is not kept.'),
  stale_if_error_ms: whole(0, DAY_MS)
    .default(0)
    .describe('How much longer an answer may stand in when the tool cannot give a new one.'),
});
export type CacheOptions = z.infer<typeof cacheOptionsSchema>;

export function faultsOfCache(
  { spec }: ToolFunction,
  { ttl_ms: ttlMs }: CacheOptions,
): readonly OptionFault[] {
  const faults: OptionFault[] = [];
  if (ttlMs === undefined)
    faults.push({
      path: [],
      message: 'ttl_ms is required, here or in gateway.yaml: how long an answer is kept',
    });
  if (!spec.metadata.readOnly) {
    const message =
      'only a read-only tool is cached, since a cached call does nothing: expected metadata.read_only: true or category: retrieval, or no cache';
    faults.push({ path: [], message });
  } else if (isUnsafe(spec.metadata)) {
    const message =
      'a tool that waits for approval is not cached: each approval is good for one call; leave the cache out';
    faults.push({ path: [], message });
  }
  return faults;
}

/** Only a tool that asks for it is cached; the gateway's options alone cache nothing. */
export function isCached(fn: ToolFunction, options: CacheOptions): boolean {
  return fn.spec.extensions['cache'] !== undefined && faultsOfCache(fn, options).length === 0;
}
