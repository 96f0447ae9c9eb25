// The operator's side on the wire: reload, the kill switch, the registry's version, the pipeline in force.
import { z } from 'zod';
import { json, route } from '../route/route.ts';
import { count, flag, list, named, number, oneOf, text } from '../route/shapes.ts';
import { ToolName } from '../tools/schema.ts';

const TAG = 'admin';

const Registry = named('Registry', () =>
  z.object({
    version: text('Equal content has an equal version on every replica.'),
    tools: z.int(),
    functions: z.int(),
  }),
);

export const PipelineStep = named('PipelineStep', () =>
  z.object({
    name: text(),
    summary: text(),
    on_failure: oneOf(['deny', 'continue']).describe('What a crash of this step means for the call.'),
  }),
);

const Pipeline = named('Pipeline', () =>
  z.object({ request: list(PipelineStep()), tool: list(PipelineStep()) }),
);

/** What is wrong in a file of tools, and where. */
export const FileProblem = named('FileProblem', () =>
  z.object({
    file: text(),
    line: z.int().min(1).optional(),
    column: z.int().min(1).optional(),
    tool: text().optional(),
    path: text('Where in the tool: `input_schema.properties.a`.').optional(),
    message: text(),
  }),
);

export const ReloadStatus = named('ReloadStatus', () =>
  z.object({
    ok: flag('False: the last load was refused, the set before it is still in force.'),
    registry_version: text(),
    tools: z.int(),
    last_attempt_at: text(),
    last_success_at: text(),
    duration_ms: number(),
    problems: list(FileProblem()),
    warnings: list(FileProblem()).describe('Of sources that are away.'),
    left_out: list(FileProblem()).describe(
      'Of dropped tools that are not in force because of it, and keep no other from being so.',
    ),
    advice: list(FileProblem()).describe(
      'What model providers refuse of the tools in force, and are shown instead; the first of it.',
    ),
    more_advice: count('How much more of it there is.'),
  }),
);

const ToolSwitch = named('ToolSwitch', () => z.object({ tool: text(), disabled: flag() }));

export const getRegistry = route({
  operationId: 'getRegistry',
  method: 'get',
  path: '/v1/registry',
  tag: 'tools',
  summary: 'The version of the set of tools in force',
  answers: { 200: json('The registry.', Registry) },
  problems: [],
});

export const getPipeline = route({
  operationId: 'getPipeline',
  method: 'get',
  path: '/v1/pipeline',
  tag: 'tools',
  summary: 'The steps every call goes through, outermost first',
  answers: { 200: json('The pipeline.', Pipeline) },
  problems: [],
});

export const getReloadStatus = route({
  operationId: 'getReloadStatus',
  method: 'get',
  path: '/v1/admin/reload',
  tag: TAG,
  summary: 'How the last load of the tools went',
  answers: { 200: json('The status.', ReloadStatus) },
  problems: [],
});

export const reload = route({
  operationId: 'reload',
  method: 'post',
  path: '/v1/admin/reload',
  tag: TAG,
  summary: 'Load the tools again now',
  answers: { 200: json('How it went.', ReloadStatus) },
  problems: [],
});

export const disableTool = route({
  operationId: 'disableTool',
  method: 'post',
  path: '/v1/admin/tools/{name}/disable',
  tag: TAG,
  summary: 'Switch a tool off at once, also for running sessions',
  params: { name: ToolName },
  answers: { 200: json('Where the switch stands.', ToolSwitch) },
  problems: [404],
});

export const enableTool = route({
  operationId: 'enableTool',
  method: 'post',
  path: '/v1/admin/tools/{name}/enable',
  tag: TAG,
  summary: 'Switch a tool on again',
  params: { name: ToolName },
  answers: { 200: json('Where the switch stands.', ToolSwitch) },
  problems: [404],
});
