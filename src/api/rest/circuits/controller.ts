// The operator's side of the circuit breakers: look, isolate an upstream, reset it. Of this replica alone.
import { Controller, Inject } from '@nestjs/common';
import { toolFailure } from '../../../contract/call/failure.ts';
import type { CircuitControl, CircuitStatus } from '../../../ports/circuit-control.ts';
import { CIRCUIT_CONTROL } from '../../tokens.ts';
import { Recorded } from '../management/acts.ts';
import { PLATFORM, Requires } from '../management/permissions.ts';
import type { Asked } from '../route/asked.ts';
import { Serves } from '../route/serves.ts';
import { wire } from '../route/wire.ts';
import { isolateCircuit, listCircuits, resetCircuit, Circuit } from './schema.ts';

@Controller()
export class CircuitsController {
  constructor(@Inject(CIRCUIT_CONTROL) private readonly circuits: CircuitControl) {}

  @Serves(listCircuits)
  @Requires(PLATFORM)
  list() {
    return { circuits: this.circuits.list().map((status) => wire(Circuit, status)) };
  }

  @Serves(isolateCircuit)
  @Requires(PLATFORM)
  @Recorded('circuits.isolate', { urgent: true })
  isolate({ params, principal }: Asked<typeof isolateCircuit>) {
    return turned(this.circuits.isolate(params.upstream, principal.id));
  }

  @Serves(resetCircuit)
  @Requires(PLATFORM)
  @Recorded('circuits.reset')
  reset({ params, principal }: Asked<typeof resetCircuit>) {
    return turned(this.circuits.reset(params.upstream, principal.id));
  }
}

function turned(status: CircuitStatus | undefined) {
  if (status !== undefined) return wire(Circuit, status);
  throw toolFailure('UPSTREAM_NOT_FOUND', 'No tool calls an upstream of this name.');
}
