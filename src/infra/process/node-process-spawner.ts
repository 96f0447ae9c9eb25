// NodeProcessSpawner: child processes for executors, as they are or inside the sandbox.
import { toolFailure } from '../../contract/call/failure.ts';
import type { ChildProcess, ProcessSpawner, SpawnRequest } from '../../ports/egress/process-spawner.ts';
import { ProcessStarter } from './process-starter.ts';
import type { Confiner, StartPlan } from './start-plan.ts';

export class NodeProcessSpawner implements ProcessSpawner {
  readonly #starter: ProcessStarter;
  readonly #confiner: Confiner;

  constructor(starter: ProcessStarter = new ProcessStarter(), confiner: Confiner = NO_SANDBOX) {
    this.#starter = starter;
    this.#confiner = confiner;
  }

  async spawn(request: SpawnRequest): Promise<ChildProcess> {
    return this.#starter.start(await this.#plan(request));
  }

  /** SIGKILL to every child and its group; resolves when all of them have ended. */
  closeAll(): Promise<void> {
    return this.#starter.closeAll();
  }

  async #plan(request: SpawnRequest): Promise<StartPlan> {
    if (request.confinement !== undefined) return this.#confiner.confine(request);
    const { argv, cwd, env, channel, stdin = false } = request;
    return { argv, cwd, env, channel, stdin };
  }
}

const NO_SANDBOX: Confiner = {
  confine: async () => {
    throw toolFailure('SANDBOX_UNAVAILABLE', 'No sandbox was set up for child processes.', {
      retryable: false,
      partialSideEffects: false,
    });
  },
};
