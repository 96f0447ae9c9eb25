// Checks tools on trial against those they stand in for: nobody may notice by more than the answer, or get more by it.
import type { Problem } from '../../contract/tool/loaded-tools.ts';
import type { ToolSpec } from '../../contract/tool/tool-spec.ts';
import { isUnsafe } from '../../contract/tool/tool-spec.ts';
import { canonicalHash } from '../../lib/json/canonical-json.ts';
import { mayCall } from '../../lib/callers/may-call.ts';
import { problemOf } from './problem-of.ts';
import type { CheckedTool } from '../spec-rules.ts';

export function problemsOfCanaries(tools: readonly CheckedTool[]): readonly Problem[] {
  const withTrial = tools.filter(({ spec }) => spec.canary !== undefined);
  if (withTrial.length === 0) return [];
  const byName = new Map(tools.map(({ spec }) => [spec.name, spec]));
  const standsIn = new Map<string, string>();
  return withTrial.flatMap(({ spec, declaration }) => {
    const name = spec.canary?.tool ?? '';
    const message = faultOf(spec, byName.get(name), standsIn.get(name));
    standsIn.set(name, spec.name);
    return message === undefined
      ? []
      : [problemOf(declaration, spec.name, { path: ['canary', 'tool'], message })];
  });
}

function faultOf(spec: ToolSpec, trial: ToolSpec | undefined, other: string | undefined): string | undefined {
  const name = spec.canary?.tool ?? '';
  if (trial === undefined) return `there is no tool "${name}"`;
  if (trial === spec) return 'a tool cannot stand in for itself';
  if (other !== undefined) return `"${name}" is on trial for "${other}" already`;
  if (trial.canary !== undefined) return `"${name}" has a canary of its own`;
  if (trial.foreign !== undefined || spec.foreign !== undefined)
    return 'a tool that a server defines cannot be on trial, nor have one';
  if (!mayCall(spec, trial, [name]))
    return `"${name}" is not of the document that this tool comes from: its loader may name it under may_call`;
  const differing = COMPARED.find(({ of }) => canonicalHash(of(spec)) !== canonicalHash(of(trial)));
  return differing && `"${name}" must have the same ${differing.what} as this tool`;
}

const COMPARED: readonly { readonly what: string; readonly of: (spec: ToolSpec) => unknown }[] = [
  { what: 'input_schema', of: ({ inputSchema }) => inputSchema },
  { what: 'output_schema', of: ({ outputSchema }) => outputSchema ?? null },
  { what: 'actions', of: ({ actions }) => actions ?? null },
  { what: 'permissions', of: ({ metadata }) => metadata.permissions.toSorted() },
  { what: 'need for approval', of: ({ metadata }) => isUnsafe(metadata) },
  { what: 'modes', of: ({ metadata }) => metadata.modes.toSorted() },
];
