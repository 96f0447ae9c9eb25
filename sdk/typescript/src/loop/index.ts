// The dialog loop: model, tools, model.
export {
  run,
  type Limits,
  type ModelFunction,
  type RunOptions,
  type RunResult,
  type StopReason,
} from './run.ts';
export { gatewayTools, refused, textOfAnswer, type GatewayToolsOptions, type ProviderFormat, type Toolbox, type ToolFace } from './toolbox.ts'; // oxfmt-ignore
export { answerCalls, type AnsweredCall, type Dialect, type GenerateRequest, type Model, type ModelCall, type ModelTurn, type Usage } from './dialect.ts'; // oxfmt-ignore
