// Templates: text with `{name}` placeholders, parsed once at load. How a value is written is up to each sink.

export interface Placeholder {
  readonly name: string;
}

export interface Template {
  /** Literal text and placeholders in order; no empty and no neighbouring literals. */
  readonly parts: readonly (string | Placeholder)[];
  /** The placeholders' names in order of first appearance, each once. */
  readonly names: readonly string[];
}

/** `column` counts UTF-16 code units from 1, like editors do. */
export class TemplateError extends Error {
  readonly column: number;

  constructor(message: string, column: number) {
    super(`${message} (column ${column})`);
    this.name = 'TemplateError';
    this.column = column;
  }
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** What is configured for the agent of a call. */
const OF_AGENT = /^(?:config|sensitive_config)\.[A-Za-z_][A-Za-z0-9_]*$/;

/** Reads a template; `{{` and `}}` stand for literal braces. `ofAgent`: also `{config.x}` and `{sensitive_config.x}`. Throws TemplateError. */
export function parseTemplate(text: string, { ofAgent = false } = {}): Template {
  const parts: (string | Placeholder)[] = [];
  const names = new Set<string>();
  let literal = '';
  let at = 0;
  while (at < text.length) {
    const character = text.charAt(at);
    if (character !== '{' && character !== '}') {
      literal += character;
      at += 1;
    } else if (text.charAt(at + 1) === character) {
      literal += character;
      at += 2;
    } else if (character === '}') {
      throw new TemplateError('Found "}" without a "{" before it: write "}}" for a literal brace', at + 1);
    } else {
      const name = readName(text, at, ofAgent);
      if (literal !== '') parts.push(literal);
      literal = '';
      parts.push({ name });
      names.add(name);
      at += name.length + 2;
    }
  }
  if (literal !== '') parts.push(literal);
  return { parts, names: [...names] };
}

/** The placeholder's name if the template is nothing else, as in `{id}`. */
export function soleName(template: Template): string | undefined {
  const [first] = template.parts;
  return template.parts.length === 1 && typeof first === 'object' ? first.name : undefined;
}

function readName(text: string, open: number, ofAgent: boolean): string {
  const close = text.indexOf('}', open);
  if (close < 0) {
    throw new TemplateError('Found "{" without a "}" after it: write "{{" for a literal brace', open + 1);
  }
  const name = text.slice(open + 1, close);
  if (NAME.test(name) || (ofAgent && OF_AGENT.test(name))) return name;
  throw new TemplateError(
    `Expected the name of an argument between braces (letters, digits and "_"), found "${name}"`,
    open + 1,
  );
}
