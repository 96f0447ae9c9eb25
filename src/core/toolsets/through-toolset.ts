// A call through a toolset becomes the call that it stands for before anybody looks at it: the tool's own name, the arguments that the
// toolset fixes. Who may use the toolset is asked once it is known who calls.
import { noSuchToolset, toolFailure } from '../../contract/call/failure.ts';
import type { ThroughToolset, ToolCall, ToolRequest } from '../../contract/call/tool-call.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import { isJsonObject, type JsonObject } from '../../contract/json.ts';
import type { CompiledTool } from '../../contract/tool/compiled-tool.ts';
import { CALL_TOOL, type Toolset, type ToolsetMember } from '../../contract/tool/toolset.ts';
import { didYouMean } from '../../lib/text/did-you-mean.ts';
import type { Toolsets } from '../../ports/registry/toolsets.ts';

/** What the core keeps there. */
interface Through extends ThroughToolset {
  readonly runs?: CompiledTool;
}

const NO_ARGUMENTS: JsonObject = Object.freeze({});
const INSIDE = '/arguments';
/** Names that are compared with one that there is not. */
const MOST_COMPARED = 200;

/** The request itself where it names no toolset. */
export function throughToolset(request: ToolRequest, toolsets: Toolsets | undefined): ToolRequest {
  if (request.context.toolset === undefined) return request;
  const { toolset: name, ...context } = request.context;
  const toolset = toolsets?.find(name);
  const asked = { ...request, context };
  if (toolset?.search === undefined) return asMember(asked, name, toolset);
  if (request.tool === CALL_TOOL) return asMember(unwrapped(asked), name, toolset);
  const runs = toolset.search.find(request.tool);
  return runs === undefined
    ? asMember(asked, name, toolset)
    : { ...asked, through: through(asked, name, toolset, runs) };
}

/** The tool that a call of a search tool runs; undefined where the request names a tool. Throws ToolFailure. */
export function searchToolOf(call: ToolCall): CompiledTool | undefined {
  const { through: said } = call.request;
  if (said === undefined) return undefined;
  const { toolset, toolsetName, tool, runs } = said as Through;
  const { tenantId, agentId } = call.context;
  if (toolset?.mayUse({ tenantId, agentId }) !== true) throw noSuchToolset(toolsetName);
  if (runs === undefined && toolset.member(tool) === undefined)
    throw call.request.refusal ?? notInToolset(call, toolset, tool);
  if (runs !== undefined && call.phase.kind === 'admit')
    throw toolFailure('MALFORMED_CALL', `${tool} answers at once: it cannot be called for later.`);
  return runs;
}

function asMember(request: ToolRequest, name: string, toolset: Toolset | undefined): ToolRequest {
  const member = toolset?.member(request.tool);
  const through_ = through(request, name, toolset);
  if (member === undefined) return { ...request, through: through_ };
  const refusal = request.refusal ?? closedArgument(request.arguments, member);
  return {
    ...request,
    tool: member.tool,
    arguments: { ...request.arguments, ...member.fixed },
    through: through_,
    ...(refusal !== undefined && { refusal }),
  };
}

function through(
  { tool }: ToolRequest,
  toolsetName: string,
  toolset: Toolset | undefined,
  runs?: CompiledTool,
): Through {
  return { toolsetName, tool, ...(toolset && { toolset }), ...(runs && { runs }) };
}

function closedArgument(args: JsonObject, { closed }: ToolsetMember): ToolFailure | undefined {
  const name = closed.size === 0 ? undefined : Object.keys(args).find((each) => closed.has(each));
  if (name === undefined) return undefined;
  const message = 'is set by the toolset and cannot be given';
  const pointer = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  return toolFailure('ARGUMENT_NOT_OFFERED', `The argument "${name}" ${message}.`, {
    details: { violations: [{ pointer, message }] },
  });
}

/** `call_tool({name, arguments})` as a call of the tool that it names. */
function unwrapped(request: ToolRequest): ToolRequest {
  const { name, arguments: args = NO_ARGUMENTS, ...others } = request.arguments;
  const other = Object.keys(others)[0];
  const fault =
    typeof name !== 'string'
      ? { pointer: '/name', message: 'must be the name of a tool, as search_tools gives it' }
      : !isJsonObject(args)
        ? { pointer: INSIDE, message: 'must be an object: the arguments of the tool' }
        : other !== undefined
          ? {
              pointer: `/${other}`,
              message: 'is no argument of call_tool: those of the tool stand in arguments',
            }
          : undefined;
  const refusal =
    request.refusal ??
    (fault &&
      toolFailure('MALFORMED_CALL', `${fault.pointer} ${fault.message}.`, {
        details: { violations: [fault] },
      }));
  const largeIntegers = request.largeIntegers?.map((at) =>
    at.startsWith(`${INSIDE}/`) ? at.slice(INSIDE.length) : at,
  );
  return {
    ...request,
    tool: typeof name === 'string' ? name : CALL_TOOL,
    arguments: isJsonObject(args) ? args : NO_ARGUMENTS,
    ...(largeIntegers !== undefined && { largeIntegers }),
    ...(refusal !== undefined && { refusal }),
  };
}

/** Whoever may not call a tool is not told that it is there. */
function notInToolset({ principal }: ToolCall, { tools }: Toolset, tool: string): ToolFailure {
  const names: string[] = [];
  for (const { name } of tools.functions) {
    const isShownTo = tools.find(name)?.isShownTo;
    if (isShownTo !== undefined && (principal === undefined || !isShownTo({ principal }))) continue;
    if (names.push(name) >= MOST_COMPARED) break;
  }
  const near = didYouMean(tool, names);
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
  return toolFailure('TOOL_NOT_FOUND', `There is no tool of this name in the toolset.${hint}`);
}
