// The operator's side of the circuit breakers: look, isolate an upstream, reset it. Of this replica alone.
import { Controller, Get, HttpCode, Inject, Param, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { Authenticator } from '../../ports/authenticator.ts';
import type { CircuitControl, CircuitStatus } from '../../ports/circuit-control.ts';
import { AUTHENTICATOR, CIRCUIT_CONTROL, MANAGEMENT_ACTS } from '../tokens.ts';
import type { ManagementActs } from './management-acts.ts';
import { PLATFORM, requirePermission } from './management.ts';

@Controller('v1/admin/circuits')
export class CircuitsController {
  constructor(
    @Inject(CIRCUIT_CONTROL) private readonly circuits: CircuitControl,
    @Inject(AUTHENTICATOR) private readonly authenticator: Authenticator,
    @Inject(MANAGEMENT_ACTS) private readonly acts: ManagementActs,
  ) {}

  @Get()
  list(@Req() request: FastifyRequest) {
    requirePermission(this.authenticator, request, PLATFORM);
    return { circuits: this.circuits.list().map(wire) };
  }

  @Post(':upstream/isolate')
  @HttpCode(200)
  isolate(@Req() request: FastifyRequest, @Param('upstream') upstream: string) {
    return this.#turn(request, upstream, 'isolate');
  }

  @Post(':upstream/reset')
  @HttpCode(200)
  reset(@Req() request: FastifyRequest, @Param('upstream') upstream: string) {
    return this.#turn(request, upstream, 'reset');
  }

  #turn(request: FastifyRequest, upstream: string, action: 'isolate' | 'reset') {
    const about = { action: `circuits.${action}`, target: upstream, urgent: action === 'isolate' };
    return this.acts.perform(request, { ...about, permission: PLATFORM }, ({ id: by }) => {
      const status = this.circuits[action](upstream, by);
      if (status !== undefined) return wire(status);
      const message = 'No tool calls an upstream of this name.';
      throw new ToolFailure('NOT_FOUND', message, { reason: 'UPSTREAM_NOT_FOUND' });
    });
  }
}

function wire(status: CircuitStatus) {
  return {
    upstream: status.upstream,
    state: status.state,
    retry_after_ms: status.retryAfterMs,
    calls: status.calls,
    failures: status.failures,
    failures_in_a_row: status.failuresInARow,
  };
}
