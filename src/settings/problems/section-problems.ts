// What a schema refuses in gateway.yaml, or in a part of it that a plugin reads, as problems with their place in the file.
import type { z } from 'zod';
import type { Problem } from '../../contract/tool/loaded-tools.ts';
import { faultsOf, type Parsed, type Path } from '../../lib/faults/faults.ts';
import { isSecretVariable } from '../../lib/mcp/secret-variables.ts';
import { problemAt, type Environment, type Source } from '../settings-source.ts';

/** `parsed.base`: where the part stands. A value that may be a secret is not told. */
export function sectionProblems(
  error: z.core.$ZodError,
  parsed: Omit<Parsed, 'isSecret'>,
  source: Source,
  env: Environment,
): Problem[] {
  return faultsOf(error, { ...parsed, isSecret }).map(({ path, message }) =>
    problemAt({ path: path.map(String), message }, source, env),
  );
}

function isSecret(path: Path, found: unknown): boolean {
  const name = path.findLast((step) => typeof step === 'string') ?? '';
  return isSecretVariable(name, String(found));
}
