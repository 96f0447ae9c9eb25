// A kept definition as a declaration again, to be checked and built like any other.
import type { RawDeclaration } from '../../contract/tool/loaded-tools.ts';
import type { ToolSpec } from '../../contract/tool/tool-spec.ts';
import type { Definition } from './version-keeper.ts';

/** Kept definitions do not say who wrote them: each is held to what the one in force may do. */
export function declarationOf(
  { document, contentHash, baseDir }: Definition,
  { name, origin }: ToolSpec,
  configDir: string,
): RawDeclaration {
  const locate = () => ({ file: `version:${name}` });
  return { value: document, contentHash, baseDir: baseDir || configDir, locate, ...(origin && { origin }) };
}
