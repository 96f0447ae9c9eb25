// Tools of one's own: declared here, run here, called through the gateway.
export { defineTool, ToolError, type AnyTool, type CallTold, type DefinedTool, type ToldType, type ToolMetadata, type ToolOptions } from './define-tool.ts'; // oxfmt-ignore
export { registerTools, specOf, type Place } from './register-tools.ts';
export type { JsonSchema, Schema, StandardSchema } from './schema.ts';
export { toolHandler, type HandlerOptions } from './tool-handler.ts';
