// The YAML of one value into JSON text: no dates, no numbers that JSON cannot say, nothing inside itself.
import { syntaxWords } from './syntax-words.ts';
import { MAX_ALIASES, parseYaml, yamlProblems } from './yaml-text.ts';

export type ParsedOne = { readonly json: string } | { readonly message: string };

/** Never throws for what the text holds. */
export function parseOne(text: string): ParsedOne {
  try {
    const document = parseYaml(text);
    const [problem] = yamlProblems({ file: '', text, lineOf: (line) => line }, document);
    if (problem !== undefined)
      return { message: `line ${problem.line}, column ${problem.column}: ${problem.message}` };
    return { json: JSON.stringify(document.toJS({ maxAliasCount: MAX_ALIASES })) ?? 'null' };
  } catch (error) {
    if (error instanceof RangeError)
      return { message: 'is nested too deeply, or repeats too much, to be read' };
    return { message: `cannot be read: ${syntaxWords((error as Error).message)}` };
  }
}
