// The rungs of the ladder: each says what it lacks here, or puts its walls around a program.
import type { SandboxBackend } from '../../ports/egress/sandbox.ts';
import type { StartPlan, Supervisor } from '../process/start-plan.ts';
import { bwrapPlan } from './bwrap-plan.ts';
import type { BackendContext, ConfinedProgram } from './confined-program.ts';
import { landlockPlan } from './landlock-plan.ts';
import { AF_INET, AF_INET6, AF_UNIX, seccompFilter, type FilterPolicy } from './seccomp/seccomp-filter.ts';
import type { Machine } from './seccomp/syscalls.ts';

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
  const filterFor = filters(machine, context, { local: [AF_UNIX], hasNamespaces: true });
  return {
    name,
    hasMounts: true,
    plan: (program, supervisor) => {
      const options = { hasProc: name === 'bwrap-full', filter: filterFor(program) };
      return bwrapPlan(program, options, context, supervisor);
    },
  };
}

export function landlockBackend(context: BackendContext, machine: Machine): Backend {
  // No sockets with names either: Landlock does not cover who may connect to them.
  const filterFor = filters(machine, context, { local: [], hasNamespaces: false });
  return {
    name: 'landlock',
    hasMounts: false,
    plan: (program, supervisor) => {
      // Which of them depends on the kernel: the launcher finds out.
      const chosen = { always: filterFor(program), whereSignalsStay: filterFor(program, program.endsItsOwn) };
      return landlockPlan(program, chosen, context, supervisor);
    },
  };
}

interface Rung {
  /** Address families of sockets that stay on this machine. */
  readonly local: readonly number[];
  readonly hasNamespaces: boolean;
}

/** Each filter is made once, for the first program that needs it. */
function filters(machine: Machine, { cgroups }: BackendContext, { local, hasNamespaces }: Rung) {
  const made = new Map<string, Buffer>();
  return ({ network, workspace, limits }: ConfinedProgram, scopesSignals = false): Buffer => {
    const addresses = limits.countsAddresses ? 'addresses' : 'data';
    const policy: FilterPolicy = {
      families: network === 'host' ? [...local, AF_INET, AF_INET6] : local,
      hasNamespaces,
      scopesSignals,
      countsFiles: workspace.kind === 'folder',
      memoryBound: cgroups?.memory === undefined ? addresses : 'cgroup',
    };
    const key = JSON.stringify(policy);
    const filter = made.get(key) ?? seccompFilter(machine, policy);
    made.set(key, filter);
    return filter;
  };
}

/** One line on what would make a better rung reachable. */
export const ADVICE =
  'Install bubblewrap (apt-get install bubblewrap util-linux) and allow user namespaces, or run on Linux 6.2 or newer with python3; see docs/sandbox.md.';
