// What MCP clients refuse: the list as the SDKs of both eras read it.
import { specTypeSchemas } from '@modelcontextprotocol/client';
import { ListToolsResultSchema } from '@modelcontextprotocol/sdk/types.js';

export function refusalsOfMcp(list: unknown): readonly string[] {
  const old = ListToolsResultSchema.safeParse(list);
  const faults = old.success
    ? []
    : old.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  const newer = specTypeSchemas.ListToolsResult['~standard'].validate(list);
  if (newer instanceof Promise) throw new Error('the SDK checks later');
  for (const { path, message } of newer.issues ?? [])
    faults.push(`${(path ?? []).map(String).join('.')}: ${message}`);
  return faults;
}
