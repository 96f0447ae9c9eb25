// ApiModule: the doors. They translate, call the core, and translate back.
import { Module, type DynamicModule } from '@nestjs/common';
import { GrpcHealth } from './grpc/grpc-health.ts';
import { ToolExecutorController } from './grpc/tool-executor.controller.ts';
import { HealthController } from './health/health.controller.ts';
import { AdminController } from './rest/admin.controller.ts';
import { ApprovalsController } from './rest/approvals.controller.ts';
import { AsyncCallsController } from './rest/async-calls.controller.ts';
import { CallsController } from './rest/calls.controller.ts';
import { CircuitsController } from './rest/circuits.controller.ts';
import { DefinitionsController } from './rest/definitions.controller.ts';
import { DocsController } from './rest/docs.controller.ts';
import { ExecuteController } from './rest/execute.controller.ts';
import { RecordingsController, ReplayController } from './rest/recordings.controller.ts';
import { ReplicasController } from './rest/replicas.controller.ts';
import { SchedulesController } from './rest/schedules.controller.ts';
import { SpecsController } from './rest/specs.controller.ts';
import { ToolsController } from './rest/tools.controller.ts';
import { WebhooksController } from './rest/webhooks.controller.ts';
import { OPENAPI_DOCUMENT, READINESS, type Readiness } from './tokens.ts';

export interface ApiOptions {
  readonly gateway: DynamicModule;
  readonly readiness: Readiness;
  readonly grpcHealth: GrpcHealth;
  readonly openApi: object;
  /** Whether /docs and /openapi.json are served. */
  readonly docs: boolean;
}

@Module({})
export class ApiModule {
  static register({ gateway, readiness, grpcHealth, openApi, docs }: ApiOptions): DynamicModule {
    const rest = [
      ExecuteController,
      ToolsController,
      ApprovalsController,
      AdminController,
      CallsController,
      CircuitsController,
      AsyncCallsController,
      WebhooksController,
      DefinitionsController,
      HealthController,
      SchedulesController,
      ReplicasController,
      SpecsController,
      RecordingsController,
      ReplayController,
    ];
    return {
      module: ApiModule,
      imports: [gateway],
      controllers: [...rest, ...(docs ? [DocsController] : []), ToolExecutorController],
      providers: [
        { provide: READINESS, useValue: readiness },
        { provide: GrpcHealth, useValue: grpcHealth },
        { provide: OPENAPI_DOCUMENT, useValue: openApi },
      ],
    };
  }
}
