// The tools of a built registry: exactly those, with code that is what it was when they were built.
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { isJsonObject } from '../../contract/json.ts';
import type { LoadedTools, Problem, RawDeclaration } from '../../contract/tool/loaded-tools.ts';
import { readText } from '../../lib/text/read-text.ts';
import { readFolder } from '../../lib/tool-folders/folder-files.ts';
import { readRegistry, REGISTRY_FILE, type RegistryTool } from '../../lib/tool-folders/registry-document.ts';

export async function loadRegistry(
  root: string,
  version: string | undefined,
  signal: AbortSignal,
): Promise<LoadedTools> {
  const file = join(root, REGISTRY_FILE);
  const read = await readText(file);
  if ('message' in read) return refused(file, `${read.message}: \`ute build-tools\` writes it`);
  const found = readRegistry(read.text);
  if ('message' in found) return refused(file, found.message);
  const { registry } = found;
  if (version !== undefined && version !== registry.version)
    return refused(file, `is version ${registry.version}, and the loader takes ${version} alone`);
  const tools: RawDeclaration[] = [];
  const problems: Problem[] = [];
  for (const tool of registry.tools) {
    signal.throwIfAborted();
    problems.push(...(await changedFiles(root, tool)));
    tools.push(declarationOf(root, file, tool));
  }
  return { tools, connections: [], problems };
}

function declarationOf(root: string, file: string, tool: RegistryTool): RawDeclaration {
  const { declaration, files, toolId } = tool;
  const config = isJsonObject(declaration['implementation_config'])
    ? declaration['implementation_config']
    : {};
  // The executor holds the code to it, then and whenever it has changed.
  const value = { ...declaration, implementation_config: { ...config, files } };
  return {
    value,
    contentHash: hash('sha256', JSON.stringify(tool)),
    baseDir: join(root, toolId),
    locate: () => ({ file }),
  };
}

async function changedFiles(root: string, { toolId, files }: RegistryTool): Promise<readonly Problem[]> {
  const { code } = await readFolder(root, toolId);
  return Object.entries(files)
    .filter(([path, sha256]) => code[path] !== sha256)
    .map(([path]) => ({
      file: join(root, toolId, path),
      tool: toolId,
      message: Object.hasOwn(code, path)
        ? 'is not what it was when the registry was built: build it again'
        : 'is gone since the registry was built: build it again',
    }));
}

function refused(file: string, message: string): LoadedTools {
  return { tools: [], connections: [], problems: [{ file, message }] };
}
