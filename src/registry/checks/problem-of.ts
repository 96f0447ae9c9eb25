// The problem of a fault: with the place in the file where its declaration has it.
import type { Problem, RawDeclaration } from '../../contract/tool/loaded-tools.ts';
import type { Fault } from '../../lib/faults/faults.ts';

export function problemOf(declaration: RawDeclaration, tool: string | undefined, fault: Fault): Problem {
  const place = declaration.locate(fault.path, fault.isKey === true ? 'key' : 'value');
  return { ...place, tool, path: fault.path.join('.'), message: fault.message };
}
