// GatewayModule: the assembled gateway, and its faces under the tokens that the doors ask for.
import { Module, type DynamicModule } from '@nestjs/common';
import {
  APPROVAL_STORE,
  AUTHENTICATOR,
  DOOR_LIMITS,
  PIPELINE_VIEW,
  REGISTRY_CONTROL,
  TOOL_CALLER,
  TOOL_CATALOG,
  type DoorLimits,
} from './api/tokens.ts';
import type { Gateway } from './create-gateway.ts';
import type { Infra } from './infra/create-ports.ts';
import { InfraModule } from './infra/infra.module.ts';
import type { Settings } from './settings/settings-schema.ts';

@Module({})
export class GatewayModule {
  static register(settings: Settings, infra: Infra, gateway: Gateway): DynamicModule {
    const limits: DoorLimits = {
      maxParallelCalls: settings.limits.max_parallel_calls,
      allowSelfApproval: settings.approvals.allow_self_approval,
    };
    const faces = [
      { provide: TOOL_CALLER, useValue: gateway.executor },
      { provide: TOOL_CATALOG, useValue: gateway.registry },
      { provide: REGISTRY_CONTROL, useValue: gateway.sync },
      { provide: PIPELINE_VIEW, useValue: gateway.pipeline },
      { provide: AUTHENTICATOR, useValue: infra.ports.authenticator },
      { provide: APPROVAL_STORE, useValue: infra.ports.approvals },
      { provide: DOOR_LIMITS, useValue: limits },
    ];
    return {
      module: GatewayModule,
      imports: [InfraModule.register(settings, infra)],
      providers: faces,
      exports: faces.map(({ provide }) => provide),
    };
  }
}
