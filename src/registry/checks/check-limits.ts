// Checks the limits of a tool: nobody is counted twice by one, and only a tool that reads may run uncounted.
import type { Fault, Path } from '../../lib/faults/faults.ts';
import { effectsOf, listOf } from '../normalise-spec.ts';
import type { ToolDeclaration } from './tool-spec-schema.ts';

export function faultsOfLimits(declared: Partial<ToolDeclaration>): readonly Fault[] {
  const { concurrency, rate_limits: rates = [], metadata } = declared;
  const slots = concurrency === undefined ? [] : listOf(concurrency);
  const isList = Array.isArray(concurrency);
  const placed = slots.map((limit, index) => ({
    limit,
    path: isList ? ['concurrency', index] : ['concurrency'],
  }));
  const rated = rates.map((limit, index) => ({ limit, path: ['rate_limits', index] }));
  const readOnly = metadata === undefined || effectsOf(metadata).readOnly;
  const open = readOnly ? [] : [...placed, ...rated].filter(({ limit }) => limit.on_store_failure === 'open');
  const twice = placed.filter(({ limit }, index) =>
    slots.slice(0, index).some(({ per }) => per === limit.per),
  );
  return [...open.map(({ path }) => openFault(path)), ...twice.map(({ path }) => twiceFault(path))];
}

function openFault(path: Path): Fault {
  const message =
    'open lets calls run uncounted, which only a tool that says read_only: true may; expected local or closed';
  return { path: [...path, 'on_store_failure'], message };
}

function twiceFault(path: Path): Fault {
  return { path: [...path, 'per'], message: 'an earlier limit counts the same calls: keep one of them' };
}
