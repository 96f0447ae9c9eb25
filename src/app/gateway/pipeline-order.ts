// The order of both stages: gateway.yaml's, or the lists as they stand, with custom extensions placed. All that is wrong with it at once.
import { REQUEST_EXTENSIONS, TOOL_EXTENSIONS } from '../../extensions/index.ts';
import { didYouMean } from '../../lib/text/did-you-mean.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import type { CustomExtension } from '../custom/custom-extensions.ts';

interface Named {
  readonly plugin: { readonly name: string };
}

interface Stages<Request extends Named, Tool extends Named> {
  readonly request: readonly Request[];
  readonly tool: readonly Tool[];
}

export interface OrderFault {
  readonly path: readonly string[];
  readonly message: string;
}

interface Ordered<Each> {
  readonly order: readonly Each[];
  readonly faults: readonly OrderFault[];
}

/** Of pipeline.tool. */
export const POLICY_ORDER =
  'there are policy rules, which are kept only in the order "validation", "policy", then "idempotency", "cache" and "approval"';
const BUDGET_ORDER =
  'names no "admission", which counts: modes and budgets of gateway.yaml would bound nothing';
const REPLAY_ORDER = 'names no "replay", so that the recording of replay.file would answer nothing';
const TOOL_RULES = 'is for the declaration of a tool: rules of gateway.yaml stand under rules';

export type OrderSettings = Pick<Settings, 'pipeline' | 'extensions' | 'modes' | 'budgets' | 'replay'>;

type Order<Request extends Named, Tool extends Named> = Stages<Request, Tool> & {
  /** Rules of tools, too, would be kept. */
  readonly isPolicyEnforced: boolean;
  readonly faults: readonly OrderFault[];
};

/** `custom`: those of both stages that are an operator's own. */
export function orderOf<Request extends Named, Tool extends Named>(
  settings: OrderSettings,
  { request, tool, custom }: Stages<Request, Tool> & { readonly custom: readonly CustomExtension[] },
): Order<Request, Tool> {
  const { pipeline, replay } = settings;
  const outer = inOrder(request, ['request', pipeline.request ?? namesOf(REQUEST_EXTENSIONS)], custom);
  const inner = inOrder(tool, ['tool', pipeline.tool ?? namesOf(TOOL_EXTENSIONS)], custom);
  const order = replay === undefined ? inner.order : inReplayOrder(inner.order);
  const names = order.map(({ plugin }) => plugin.name);
  const isPolicyEnforced = enforcesPolicy(names);
  const faults = [
    ...outer.faults,
    ...inner.faults,
    // An order with a name that nobody has may have meant what it seems to leave out.
    ...(inner.faults.length === 0 ? leftOut(settings, names, isPolicyEnforced) : []),
    ...toolRules(settings),
  ];
  return { request: outer.order, tool: order, isPolicyEnforced, faults };
}

/** Custom ones that no order names go innermost, by priority. */
function inOrder<Each extends Named>(
  steps: readonly Each[],
  [stage, names]: readonly ['request' | 'tool', readonly string[]],
  custom: readonly CustomExtension[],
): Ordered<Each> {
  const here = new Map(steps.map((step) => [step.plugin.name, step]));
  const faults = names.flatMap((name, at) =>
    here.has(name)
      ? []
      : [{ path: ['pipeline', stage, `${at}`], message: unknownName(name, [...here.keys()]) }],
  );
  const placed = custom
    .toSorted((a, b) => b.priority - a.priority)
    .flatMap(({ plugin }) => (names.includes(plugin.name) ? [] : plugin.name));
  const order = [...names, ...placed].flatMap((name) => here.get(name) ?? []);
  return { order, faults };
}

/** What settings ask for that this order would leave undone. */
function leftOut(
  { extensions, modes, budgets, replay }: OrderSettings,
  names: readonly string[],
  isPolicyEnforced: boolean,
): readonly OrderFault[] {
  const countsBudgets = modes !== undefined || budgets !== undefined;
  const messages = [
    ...(extensions['policy'] !== undefined && !isPolicyEnforced ? [POLICY_ORDER] : []),
    ...(countsBudgets && !names.includes('admission') ? [BUDGET_ORDER] : []),
    ...(replay !== undefined && !names.includes('replay') ? [REPLAY_ORDER] : []),
  ];
  return messages.map((message) => ({ path: ['pipeline', 'tool'], message }));
}

/** A tool's own list would take their place. */
function toolRules({ extensions }: OrderSettings): readonly OrderFault[] {
  const isSaid = extensions['policy']?.['tool_rules'] !== undefined;
  return isSaid ? [{ path: ['extensions', 'policy', 'tool_rules'], message: TOOL_RULES }] : [];
}

/** Rules see valid arguments, nothing is answered before they are asked, and what they want approved is approved. */
function enforcesPolicy(order: readonly string[]): boolean {
  const at = (name: string) => order.indexOf(name);
  const behind = ['idempotency', 'cache', 'approval', 'recording', 'replay'].filter((name) => at(name) >= 0);
  const isValidated = at('validation') >= 0 && at('validation') < at('policy');
  return isValidated && at('approval') >= 0 && behind.every((name) => at('policy') < at(name));
}

const KEEPS_ANSWERS: ReadonlySet<string> = new Set(['idempotency', 'cache']);

/** What keeps answers stands behind the recording that gives them: neither gets to see what the other gave. */
function inReplayOrder<Each extends Named>(steps: readonly Each[]): readonly Each[] {
  const keeping = steps.filter(({ plugin }) => KEEPS_ANSWERS.has(plugin.name));
  const rest = steps.filter((step) => !keeping.includes(step));
  const at = rest.findIndex(({ plugin }) => plugin.name === 'replay');
  return [...rest.slice(0, at + 1), ...keeping, ...rest.slice(at + 1)];
}

function unknownName(name: string, known: readonly string[]): string {
  const near = didYouMean(name, known);
  return `there is no extension "${name}" here${near === undefined ? '' : `; did you mean "${near}"?`} Known: ${known.join(', ')}`;
}

function namesOf(plugins: readonly { readonly name: string }[]): readonly string[] {
  return plugins.map(({ name }) => name);
}
