// The refusal of a call whose tool is not there: it names the one that was probably meant, if the caller may call it.
import type { ToolCall } from '../contract/call/tool-call.ts';
import { toolFailure } from '../contract/call/failure.ts';
import type { ToolFailure } from '../contract/call/tool-failure.ts';
import { didYouMean } from '../lib/text/did-you-mean.ts';

/** Comparing one name takes microseconds, and whoever misspells names may do so all day. */
const MOST_COMPARED = 200;

export function noSuchTool(call: ToolCall): ToolFailure {
  const { request, snapshot } = call;
  // Of others than those of the toolset, its callers are told nothing.
  if (request.through !== undefined) return toolFailure('TOOL_NOT_FOUND', 'There is no tool of this name.');
  const actions = snapshot.specs
    .find((spec) => spec.name === request.tool)
    ?.actions?.map(({ name }) => `${request.tool}.${name}`)
    .filter((name) => mayBeTold(call, name));
  if (actions !== undefined && actions.length > 0) {
    const names = actions.map((name) => spelled(call, name)).join(' or ');
    const message = `This tool is called by its actions. It has actions: call ${names}.`;
    return toolFailure('ACTION_MISSING', message);
  }
  const near = didYouMean(request.tool, namesWorthComparing(call));
  const hint = near === undefined ? '' : ` Did you mean "${spelled(call, near)}"?`;
  return toolFailure('TOOL_NOT_FOUND', `There is no tool of this name.${hint}`);
}

/** As the caller can write it: models know tools by their spelling for providers, and most can write no other. */
function spelled({ request, snapshot }: ToolCall, name: string): string {
  const isModels = request.providerCallId !== undefined || request.tool.includes('__');
  return isModels ? snapshot.providerName(name) : name;
}

/** Names that may be told to this caller and begin or end alike. */
function namesWorthComparing(call: ToolCall): readonly string[] {
  const names: string[] = [];
  for (const fn of call.snapshot.functions) {
    if (!isAlike(call.request.tool, fn.name) || !mayBeTold(call, fn.name)) continue;
    if (names.push(fn.name) >= MOST_COMPARED) break;
  }
  return names;
}

function isAlike(asked: string, name: string): boolean {
  if (asked === '' || name.startsWith(asked)) return true;
  const isNear = Math.abs(asked.length - name.length) <= asked.length / 3;
  return isNear && (asked.slice(0, 2) === name.slice(0, 2) || asked.slice(-2) === name.slice(-2));
}

/** Whoever may not call it is not told that it is there. */
function mayBeTold({ principal, snapshot }: ToolCall, name: string): boolean {
  const isShownTo = snapshot.find(name)?.isShownTo;
  return isShownTo === undefined || (principal !== undefined && isShownTo({ principal }));
}
