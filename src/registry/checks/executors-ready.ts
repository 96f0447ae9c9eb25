// Lets the executors of the tools that are about to be checked bring what their checks need, and no other executor.
import { isJsonObject } from '../../contract/json.ts';
import type { LoadedTools, RawDeclaration } from '../../contract/tool/loaded-tools.ts';
import { executorNameOf } from './check-executor.ts';
import type { SpecRules } from '../spec-rules.ts';

/** To be awaited before the declarations are checked, which waits for nothing. Throws what an executor throws. */
export async function executorsReady(
  declarations: readonly RawDeclaration[],
  { executors }: SpecRules,
): Promise<void> {
  const types = new Set(declarations.map(typeOf));
  await Promise.all([...types].map(async (type) => executors.get(executorNameOf(type))?.ready?.()));
}

export function declarationsOf(loaded: readonly LoadedTools[]): readonly RawDeclaration[] {
  return loaded.flatMap(({ tools }) => tools);
}

function typeOf({ value }: RawDeclaration): string {
  const type = isJsonObject(value) ? value['tool_type'] : undefined;
  return typeof type === 'string' ? type : '';
}
