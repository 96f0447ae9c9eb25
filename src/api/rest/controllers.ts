// Every resource of REST, in the order of the reference: what is served, and what the OpenAPI document holds.
import { HealthController } from '../health/health.controller.ts';
import { McpController } from '../mcp/controller.ts';
import { AdminController } from './admin/controller.ts';
import { AgentsController } from './agents/controller.ts';
import { AnalyticsController } from './analytics/controller.ts';
import { ApprovalsController } from './approvals/controller.ts';
import { AssignmentsController } from './assignments/controller.ts';
import { DelegationsController } from './approvals/delegations-controller.ts';
import { AuditController } from './audit/controller.ts';
import { CallsController } from './calls/controller.ts';
import { CircuitsController } from './circuits/controller.ts';
import { DefinitionsController } from './definitions/controller.ts';
import { DocsController } from './docs/controller.ts';
import { ExecuteController } from './execute/controller.ts';
import { KeysController } from './keys/controller.ts';
import { OAuthController } from './oauth/controller.ts';
import { OAuthPageController } from './oauth/page-controller.ts';
import { PolicyController } from './policy/controller.ts';
import { ProvidersController } from './providers/controller.ts';
import { RecordingsController } from './recordings/controller.ts';
import { ReplayController } from './recordings/replay-controller.ts';
import { ReplicasController } from './replicas/controller.ts';
import { SchedulesController } from './schedules/controller.ts';
import { SecretsController } from './secrets/controller.ts';
import { SessionsController } from './sessions/controller.ts';
import { SpecsController } from './specs/controller.ts';
import { StreamController } from '../stream/controller.ts';
import { StatusController } from './status/controller.ts';
import { SuggestionsController } from './suggestions/controller.ts';
import { TextController } from './text/controller.ts';
import { ToolsController } from './tools/controller.ts';
import { ToolSearchController } from './tools/search-controller.ts';
import { WebhooksController } from './webhooks/controller.ts';

export const REST_CONTROLLERS = [
  ExecuteController,
  ProvidersController,
  TextController,
  ToolsController,
  ToolSearchController,
  CallsController,
  ApprovalsController,
  DelegationsController,
  SchedulesController,
  SessionsController,
  KeysController,
  PolicyController,
  AgentsController,
  OAuthController,
  OAuthPageController,
  AssignmentsController,
  AdminController,
  AuditController,
  AnalyticsController,
  SuggestionsController,
  SecretsController,
  DefinitionsController,
  CircuitsController,
  ReplicasController,
  StatusController,
  WebhooksController,
  SpecsController,
  RecordingsController,
  ReplayController,
  HealthController,
] as const;

/** Served where the settings say so, as are the next. */
export const MCP_CONTROLLERS = [McpController] as const;

export const STREAM_CONTROLLERS = [StreamController] as const;

export const DOCS_CONTROLLERS = [DocsController] as const;
