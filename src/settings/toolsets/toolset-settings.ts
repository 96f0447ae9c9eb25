// What gateway.yaml says of toolsets: which tools each offers, to whom, and what of them differs there.
import { z } from 'zod';
import { PROVIDER_NAME } from '../../lib/text/provider-names.ts';

export const TOOLSET_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

const patterns = z.array(z.string().min(1).max(256)).min(1);

const selection = z.strictObject({
  tools: patterns
    .optional()
    .describe('Names of tools, or of `tool.action`; `*` stands for any characters, `?` for one.'),
  tags: z.array(z.string().min(1)).min(1).optional().describe('Tools with one of these tags.'),
  categories: z.array(z.string().min(1)).min(1).optional().describe('Tools of one of these categories.'),
});

const override = z.strictObject({
  name: z
    .string()
    .regex(
      PROVIDER_NAME,
      'expected a name that every model provider takes: a letter or "_", then letters, digits, "_" or "-", 64 characters at most',
    )
    .optional()
    .describe('What the tool is called in this toolset.'),
  description: z.string().min(1).max(4096).optional().describe('In place of its own, and of its summary.'),
  fixed: z
    .record(z.string().min(1), z.json())
    .optional()
    .describe('Arguments of every call through this toolset. Callers neither see nor give them.'),
  hidden: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe('Parameters that callers neither see nor give: their defaults apply.'),
});

const toolset = z.strictObject({
  description: z.string().min(1).max(1024).optional().describe('What the tools are for.'),
  include: selection.optional().describe('Tools that one of these words names. Left out: all of them.'),
  exclude: selection.optional().describe('Tools that are not in it, whatever include says.'),
  tenants: z.array(z.string().min(1)).min(1).optional().describe('Who may use it. Left out: every tenant.'),
  agents: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe('For whom it may be used. Left out: with any agent, and with none.'),
  overrides: z
    .record(z.string().min(1), override)
    .default({})
    .describe('What differs here, by the name of the tool, or of `tool.action`.'),
  listing: z
    .enum(['full', 'search'])
    .default('full')
    .describe('search: lists hold three tools, by which an agent searches, describes and calls the others.'),
});

export const toolsets = z
  .record(
    z
      .string()
      .regex(TOOLSET_NAME, 'expected a letter, then letters, digits, "_" or "-", 64 characters at most'),
    toolset,
  )
  .default({});

export type ToolsetSettings = z.infer<typeof toolset>;
export type ToolsetsSettings = z.infer<typeof toolsets>;
