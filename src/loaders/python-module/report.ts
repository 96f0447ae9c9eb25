// What describe.py reports, line by line. Modules share its process, so that not a byte of it is believed unchecked.
import { z } from 'zod';
import type { Problem } from '../../contract/tool/loaded-tools.ts';

const place = { file: z.string().max(4_096).optional(), line: z.int().min(1).optional() };

/** A module's own code could write here too: no other executor's tool, and no other module's, comes this way. */
const spec = z.looseObject({
  tool_type: z.literal('python'),
  implementation_config: z.strictObject({
    module: z.string(),
    function_name: z.string(),
    pure: z.boolean().optional(),
    interpreter: z.string().optional(),
    network: z.string().optional(),
  }),
});

const describedTool = z.strictObject({
  spec,
  folder: z.string().min(1),
  ...place,
});

const line = z.union([
  z.strictObject({ importing: z.string() }),
  z.strictObject({
    module: z.string(),
    tools: z.array(describedTool),
    problems: z.array(z.strictObject({ message: z.string(), ...place })),
  }),
  z.strictObject({ done: z.literal(true) }),
]);

export type DescribedTool = z.output<typeof describedTool>;

export interface Report {
  readonly tools: readonly DescribedTool[];
  readonly problems: readonly (Omit<Problem, 'file'> & { readonly file?: string | undefined })[];
  /** The module that was being imported when the report ended. */
  readonly importing: string | undefined;
  readonly isDone: boolean;
  /** Set when a line is none of describe.py's. */
  readonly garbled: boolean;
}

/** `modules` and `folders` are what was asked for. */
export function readReport(text: string, modules: readonly string[], folders: readonly string[]): Report {
  const tools: DescribedTool[] = [];
  const isNotAskedFor = ({ spec: { implementation_config: config }, folder }: DescribedTool): boolean =>
    !modules.includes(config.module) || !folders.includes(folder);
  const problems: Report['problems'][number][] = [];
  let importing: string | undefined;
  let isDone = false;
  for (const written of text.split('\n')) {
    if (written === '') continue;
    const parsed = parseLine(written);
    const isForeign = parsed !== undefined && 'tools' in parsed && parsed.tools.some(isNotAskedFor);
    if (parsed === undefined || isDone || isForeign)
      return { tools: [], problems: [], importing, isDone: false, garbled: true };
    if ('importing' in parsed) importing = parsed.importing;
    else if ('done' in parsed) isDone = true;
    else {
      tools.push(...parsed.tools);
      problems.push(...parsed.problems);
      importing = undefined;
    }
  }
  return { tools, problems, importing, isDone, garbled: false };
}

function parseLine(written: string): z.output<typeof line> | undefined {
  try {
    return line.safeParse(JSON.parse(written)).data;
  } catch {
    return undefined;
  }
}
