// tool_registry.json: tool folders as they were built, with a version that is made of their content alone.
import { z } from 'zod';
import { canonicalHash } from '../json/canonical-json.ts';
import { isJsonObject } from '../json/json-value.ts';

export const REGISTRY_FILE = 'tool_registry.json';

const SHA256 = /^[0-9a-f]{64}$/;
const json = z.record(z.string(), z.json());

const registryTool = z.strictObject({
  toolId: z.string().regex(/^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$/),
  category: z.string().min(1),
  jsonSchema: json,
  outputSchema: json.optional(),
  providerSchemas: json,
  summary: z.string().min(1),
  documentation: z.string().min(1),
  /** From the folder of the registry. */
  handlerPath: z.string().min(1),
  /** sha256 of each file of the code, by its path below the tool's folder. */
  files: z.record(z.string().min(1), z.string().regex(SHA256)),
  declaration: json,
});

const registryDocument = z.strictObject({
  version: z.string().regex(/^1\.0\.[0-9a-f]{8}$/),
  contentHash: z.string().regex(SHA256),
  gitCommit: z.string().nullable(),
  buildTimestamp: z.string(),
  tools: z.array(registryTool).max(10_000),
});

export type RegistryTool = z.output<typeof registryTool>;
export type RegistryDocument = z.output<typeof registryDocument>;

/** `gitCommit` and `buildTimestamp` are no part of the version: the same content built twice is the same. */
export function registryOf(
  tools: readonly RegistryTool[],
  { gitCommit, buildTimestamp }: Pick<RegistryDocument, 'gitCommit' | 'buildTimestamp'>,
): RegistryDocument {
  const sorted = tools.toSorted((one, other) => (one.toolId < other.toolId ? -1 : 1));
  const contentHash = canonicalHash(sorted);
  return { version: versionOf(contentHash), contentHash, gitCommit, buildTimestamp, tools: sorted };
}

function versionOf(contentHash: string): string {
  return `1.0.${contentHash.slice(0, 8)}`;
}

/** Gives half a sentence, that completes "the file …", where it is none, or not what was built. */
export function readRegistry(
  text: string,
): { readonly registry: RegistryDocument } | { readonly message: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { message: 'is not JSON: build it again with `ute build-tools`' };
  }
  const parsed = registryDocument.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { message: `is no registry of tools: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}` };
  }
  const { data: registry } = parsed;
  // As it stands in the file: what the schema passes on has been through it.
  const tools = isJsonObject(value) ? value['tools'] : undefined;
  const found = canonicalHash(tools);
  if (found !== registry.contentHash || registry.version !== versionOf(found))
    return {
      message: `was changed after it was built: its content is ${versionOf(found)} (${found}), and it says ${registry.version} (${registry.contentHash})`,
    };
  return { registry };
}

export function registryText(registry: RegistryDocument): string {
  return `${JSON.stringify(registry, null, 2)}\n`;
}
