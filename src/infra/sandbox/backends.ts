// The rungs of the ladder: each says what it lacks here, or puts its walls around a program.
import type { SandboxBackend } from '../../ports/sandbox.ts';
import type { StartPlan, Supervisor } from '../process/start-plan.ts';
import { bwrapPlan } from './bwrap-plan.ts';
import type { BackendContext, ConfinedProgram } from './confined-program.ts';
import { landlockPlan } from './landlock-plan.ts';
import { AF_INET, AF_INET6, AF_UNIX, seccompFilter } from './seccomp-filter.ts';
import type { Machine } from './syscalls.ts';

export interface Backend {
  readonly name: SandboxBackend;
  /** Whether a program gets mounts of its own, a workspace in memory among them. */
  readonly hasMounts: boolean;
  plan(program: ConfinedProgram, supervisor: Supervisor): StartPlan;
}

export function bwrapBackend(
  name: 'bwrap-full' | 'bwrap-container',
  context: BackendContext,
  machine: Machine,
): Backend {
  const filters = filtersOf(machine, [AF_UNIX], false);
  return {
    name,
    hasMounts: true,
    plan: (program, supervisor) => {
      const options = { hasProc: name === 'bwrap-full', filter: filters[program.network] };
      return bwrapPlan(program, options, context, supervisor);
    },
  };
}

export function landlockBackend(context: BackendContext, machine: Machine): Backend {
  // No sockets with names either: Landlock does not cover who may connect to them.
  const filters = filtersOf(machine, [], true);
  return {
    name: 'landlock',
    hasMounts: false,
    plan: (program, supervisor) => landlockPlan(program, filters[program.network], context, supervisor),
  };
}

function filtersOf(machine: Machine, local: readonly number[], holdsGroup: boolean) {
  return {
    none: seccompFilter(machine, { families: local, holdsGroup }),
    host: seccompFilter(machine, { families: [...local, AF_INET, AF_INET6], holdsGroup }),
  };
}

/** One line on what would make a better rung reachable. */
export const ADVICE =
  'Install bubblewrap (apt-get install bubblewrap util-linux) and allow user namespaces, or run on Linux 6.2 or newer with python3; see docs/sandbox.md.';
