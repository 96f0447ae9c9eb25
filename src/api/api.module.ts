// ApiModule: the doors. They translate, call the core, and translate back.
import { Module, type DynamicModule } from '@nestjs/common';
import { GrpcHealth } from './grpc/grpc-health.ts';
import { AnalyticsRpcController } from './grpc/management/analytics.controller.ts';
import { ApprovalRpcController } from './grpc/management/approvals.controller.ts';
import { CallRpcController } from './grpc/management/calls.controller.ts';
import { SessionRpcController } from './grpc/management/sessions.controller.ts';
import { ToolExecutorController } from './grpc/tool-executor.controller.ts';
import {
  DOCS_CONTROLLERS,
  MCP_CONTROLLERS,
  REST_CONTROLLERS,
  STREAM_CONTROLLERS,
} from './rest/controllers.ts';
import { READINESS, type Readiness } from './tokens.ts';

export interface ApiOptions {
  readonly gateway: DynamicModule;
  readonly readiness: Readiness;
  readonly grpcHealth: GrpcHealth;
  /** Whether /docs and /openapi.json are served. */
  readonly docs: boolean;
  /** Whether /mcp is served. */
  readonly mcp: boolean;
  /** Whether /v1/stream is served. */
  readonly streams: boolean;
}

const GRPC_CONTROLLERS = [
  ToolExecutorController,
  CallRpcController,
  AnalyticsRpcController,
  SessionRpcController,
  ApprovalRpcController,
] as const;

@Module({})
export class ApiModule {
  static register({ gateway, readiness, grpcHealth, docs, mcp, streams }: ApiOptions): DynamicModule {
    return {
      module: ApiModule,
      imports: [gateway],
      controllers: [
        ...REST_CONTROLLERS,
        ...(mcp ? MCP_CONTROLLERS : []),
        ...(streams ? STREAM_CONTROLLERS : []),
        ...(docs ? DOCS_CONTROLLERS : []),
        ...GRPC_CONTROLLERS,
      ],
      providers: [
        { provide: READINESS, useValue: readiness },
        { provide: GrpcHealth, useValue: grpcHealth },
      ],
    };
  }
}
