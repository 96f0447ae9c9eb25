// pack.yaml: what a pack says of itself, for its loader and for `ute packs`.
import { z } from 'zod';
import type { DescribedProblem } from '../text/describe-problem.ts';
import { readText } from '../text/read-text.ts';
import { locateIn, parseYaml, yamlProblems, type YamlText } from '../tools-yaml/yaml-text.ts';

export const packName = z
  .string()
  .regex(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/, 'Expected a name such as receptionist or web-search.')
  .max(64);

/** Variables of the environment, and what each is. */
const variables = z.record(z.string().regex(/^[A-Z][A-Z0-9_]*$/), z.string().min(1)).default({});
const word = z.string().regex(/^[a-z][a-z0-9_]{0,31}$/, 'Expected a word such as search or brave.');

const choiceSchema = z.strictObject({
  means: z.string().min(1),
  /** Files of declarations beside tools.yaml that each value brings, and the variables that they read. */
  of: z.record(
    word,
    z.strictObject({
      files: z
        .array(
          z
            .string()
            .regex(/^[a-z][a-z0-9_-]*\.yaml$/, 'Expected a file beside pack.yaml, such as brave.yaml.'),
        )
        .min(1),
      environment: variables,
    }),
  ),
});

const manifestSchema = z.strictObject({
  name: packName,
  summary: z.string().regex(/^[A-Z][^\n]{9,199}\.$/, 'Expected one sentence of 10 to 200 characters.'),
  /** Variables of the environment that its connections read. */
  environment: variables,
  /** What an operator may choose: nothing of a choice is there unless it is made. */
  choices: z.record(word, choiceSchema).default({}),
  /** Connections that it brings and that `connections:` of the loader may replace. */
  connections: z.record(z.string().min(1), z.string().min(1)).default({}),
  /** What has to be set up before a first call, where that is more than variables. */
  before: z.string().min(1).optional(),
  /** Its first call asks something on the internet. */
  network: z.literal(true).optional(),
  /** Arguments of a first call, for whoever has just put it in force. */
  first_call: z.strictObject({
    tool: z.string().min(1),
    arguments: z.record(z.string(), z.json()),
    /** For whom it is made, where that has to be said. */
    context: z.record(word, z.string().min(1)).default({}),
  }),
});

export type PackManifest = z.output<typeof manifestSchema>;

export type ReadManifest =
  | { readonly manifest: PackManifest }
  | { readonly faults: readonly DescribedProblem[] };

/** Never throws: each fault has its place in the file. */
export async function readManifest(file: string): Promise<ReadManifest> {
  const read = await readText(file, 64 * 1024);
  if ('message' in read) return { faults: [{ file, message: read.message }] };
  const source: YamlText = { file, text: read.text, lineOf: (line) => line };
  const document = parseYaml(read.text);
  const broken = yamlProblems(source, document);
  if (broken.length > 0) return { faults: broken };
  const parsed = manifestSchema.safeParse(document.toJS());
  if (parsed.success) return { manifest: parsed.data };
  const faults = parsed.error.issues.map(({ path, message }) => ({
    ...locateIn(source, path as (string | number)[], 'value'),
    path: path.join('.'),
    message,
  }));
  return { faults };
}
