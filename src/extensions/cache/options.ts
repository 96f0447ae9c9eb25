// What a tool may say of its cache, and what it may not.
import { z } from 'zod';
import type { OptionFault } from '../../contract/plugin.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { isUnsafe } from '../../contract/tool/tool-spec.ts';
import { whole } from '../../lib/settings/whole.ts';

const DAY_MS = 86_400_000;

const group = z.string().regex(/^[a-z][a-z0-9_-]{0,63}$/, 'expected a word in lower case, such as bookings');

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
  group: group
    .optional()
    .describe(
      'A word for what the answer tells of: a tool whose cache.drops names it makes all answers of the group in that tenant be asked for anew.',
    ),
  drops: z
    .array(group)
    .min(1)
    .max(16)
    .optional()
    .describe(
      'Of a tool that changes something: groups whose answers are not given again once it has run. The tool itself is not cached.',
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
  { ttl_ms: ttlMs, drops }: CacheOptions,
): readonly OptionFault[] {
  const own = spec.extensions['cache'] ?? {};
  if (drops !== undefined) return faultsOfDrops(Object.keys(own), spec.metadata.readOnly);
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

function faultsOfDrops(said: readonly string[], isReadOnly: boolean): readonly OptionFault[] {
  const others = said.filter((name) => name !== 'drops');
  if (isReadOnly)
    return [{ path: ['drops'], message: 'a tool that is read-only changes nothing: expected no drops' }];
  return others.map((name) => ({
    path: [name],
    message: 'is for a tool that is cached; one that drops answers of others is not',
  }));
}

/** Only a tool that asks for it is cached; the gateway's options alone cache nothing. */
export function isCached(fn: ToolFunction, options: CacheOptions): boolean {
  const { drops } = options;
  return (
    fn.spec.extensions['cache'] !== undefined &&
    drops === undefined &&
    faultsOfCache(fn, options).length === 0
  );
}
